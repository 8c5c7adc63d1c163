#include "expr/states/internal/comparator.h"

#include <algorithm>
#include <array>
#include <compare>
#include <utility>
#include <vector>

#include "expr/states/internal/comparison.h"

namespace sluice::expr::states::internal {
namespace {

using Type = Comparator::Type;
using Relation = Comparator::Relation;
using Test = Comparator::Test;

constexpr auto types = std::to_array<std::pair<std::string_view, Type>>({
    {"String", Type::String},
    {"Numeric", Type::Numeric},
    {"Timestamp", Type::Timestamp},
    {"Boolean", Type::Boolean},
});

constexpr auto relations = std::to_array<std::pair<std::string_view, Relation>>({
    {"Equals", Relation::Equals},
    {"LessThan", Relation::LessThan},
    {"GreaterThan", Relation::GreaterThan},
    {"LessThanEquals", Relation::LessThanEquals},
    {"GreaterThanEquals", Relation::GreaterThanEquals},
});

constexpr auto tests = std::to_array<std::pair<std::string_view, Test>>({
    {"IsNull", Test::Null},
    {"IsPresent", Test::Present},
    {"IsNumeric", Test::Numeric},
    {"IsString", Test::String},
    {"IsBoolean", Test::Boolean},
    {"IsTimestamp", Test::Timestamp},
});

bool holds(Relation relation, std::partial_ordering order) {
    switch (relation) {
        case Relation::Equals: return order == 0;
        case Relation::LessThan: return order < 0;
        case Relation::GreaterThan: return order > 0;
        case Relation::LessThanEquals: return order <= 0;
        case Relation::GreaterThanEquals: return order >= 0;
    }
    return false;
}

std::optional<Timestamp> timestamp_in(const Value& value) {
    return value.is_string() ? parse_timestamp(value.as_string()) : std::nullopt;
}

/// The order of UTF-16: characters that take two units come before those from U+E000 on.
std::strong_ordering order_of_texts(std::string_view left, std::string_view right) {
    auto [one, other] = std::ranges::mismatch(left, right);
    if (one == left.end() || other == right.end()) {
        return left.size() <=> right.size();
    }
    auto weight = [](char c) {
        auto byte = static_cast<unsigned char>(c);
        return byte < 0xEE ? byte : byte < 0xF0 ? byte + 5 : byte - 2;
    };
    return weight(*one) <=> weight(*other);
}

} // namespace

std::optional<Comparator> find_comparator(std::string_view name) {
    if (name == "StringMatches") {
        return Comparator{.type = Type::Matches};
    }
    for (const auto& [word, test] : tests) {
        if (name == word) {
            return Comparator{.type = Type::Is, .test = test};
        }
    }
    for (const auto& [word, type] : types) {
        if (!name.starts_with(word)) {
            continue;
        }
        auto rest = name.substr(word.size());
        auto has_path = rest.ends_with("Path");
        rest.remove_suffix(has_path ? 4 : 0);
        for (const auto& [relation_word, relation] : relations) {
            if (rest == relation_word && (type != Type::Boolean || relation == Relation::Equals)) {
                return Comparator{.type = type, .relation = relation, .has_path = has_path};
            }
        }
    }
    return std::nullopt;
}

std::string_view refuse_operand(const Comparator& comparator, const Value& operand) {
    if (comparator.has_path) {
        return operand.is_string() ? "" : "a reference path";
    }
    switch (comparator.type) {
        case Type::String:
        case Type::Matches: return operand.is_string() ? "" : "a string";
        case Type::Numeric: return operand.is_number() ? "" : "a number";
        case Type::Timestamp: return timestamp_in(operand) ? "" : "an RFC3339 timestamp";
        case Type::Boolean:
        case Type::Is: return operand.is_bool() ? "" : "a boolean";
    }
    return "";
}

bool compare(const Comparator& comparator, const Value& variable, const Value& operand) {
    switch (comparator.type) {
        case Type::String:
            return variable.is_string() && operand.is_string() &&
                   holds(comparator.relation,
                         order_of_texts(variable.as_string(), operand.as_string()));
        case Type::Numeric:
            return variable.is_number() && operand.is_number() &&
                   holds(comparator.relation, compare_numbers(variable, operand));
        case Type::Timestamp: {
            auto left = timestamp_in(variable);
            auto right = left ? timestamp_in(operand) : std::nullopt;
            return right && holds(comparator.relation, *left <=> *right);
        }
        case Type::Boolean:
            return variable.is_bool() && operand.is_bool() &&
                   variable.as_bool() == operand.as_bool();
        case Type::Matches:
            return variable.is_string() && matches(variable.as_string(), operand.as_string());
        case Type::Is: return is_of(comparator.test, variable) == operand.as_bool();
    }
    return false;
}

bool is_of(Comparator::Test test, const Value& value) {
    switch (test) {
        case Test::Null: return value.is_null();
        case Test::Present: return true;
        case Test::Numeric: return value.is_number();
        case Test::String: return value.is_string();
        case Test::Boolean: return value.is_bool();
        case Test::Timestamp: return timestamp_in(value).has_value();
    }
    return false;
}

bool matches(std::string_view text, std::string_view pattern) {
    // Where to go on when what follows the last star does not fit: one byte later.
    auto star = std::string_view::npos;
    auto star_text = std::size_t{0};
    auto at = std::size_t{0};
    auto in_pattern = std::size_t{0};
    while (at < text.size()) {
        auto is_star = in_pattern < pattern.size() && pattern[in_pattern] == '*';
        if (is_star) {
            star = in_pattern++;
            star_text = at;
            continue;
        }
        auto is_escaped = in_pattern + 1 < pattern.size() && pattern[in_pattern] == '\\';
        auto place = in_pattern + (is_escaped ? 1 : 0);
        if (place < pattern.size() && pattern[place] == text[at]) {
            in_pattern = place + 1;
            ++at;
        } else if (star != std::string_view::npos) {
            in_pattern = star + 1;
            at = ++star_text;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', in_pattern) == std::string_view::npos;
}

} // namespace sluice::expr::states::internal
