#include <algorithm>
#include <utility>

#include <re2/re2.h>

#include "expr/jsonpath/internal/comparison.h"
#include "expr/jsonpath/internal/regexp.h"
#include "expr/jsonpath/internal/selection.h"
#include "expr/jsonpath/internal/tail_function.h"

namespace sluice::expr::jsonpath::internal {
namespace {

using Kind = Expression::Kind;

/// RE2 may walk its whole program for each byte.
std::uint64_t cost_of(const re2::RE2& pattern, std::size_t bytes) {
    constexpr auto bytes_per_step = std::uint64_t{64};
    constexpr auto instructions_per_byte = std::uint64_t{32};
    auto size = static_cast<std::uint64_t>(std::max(pattern.ProgramSize(), 0));
    return 1 + bytes * (1 + size / instructions_per_byte) / bytes_per_step;
}

std::int64_t code_points(std::string_view text) {
    return std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

bool is_truth(Function function) {
    return function == Function::Match || function == Function::Search;
}

} // namespace

bool Selection::holds(const Filter& filter, const Value& current) {
    if (++depth_ > value_depth_max) {
        meter_.exhaust();
    }
    auto kept_places = std::exchange(keeps_places_, false);
    auto was_descending = std::exchange(is_descending_, false);
    auto verdict = test(*filter.condition, current);
    is_descending_ = was_descending;
    keeps_places_ = kept_places;
    --depth_;
    return verdict;
}

bool Selection::test(const Expression& expression, const Value& current) {
    if (!meter_.spend(1)) {
        return false;
    }
    auto holds_one = [&](const Expression& part) { return test(part, current); };
    switch (expression.kind) {
        case Kind::Or: return std::ranges::any_of(expression.parts, holds_one);
        case Kind::And: return std::ranges::all_of(expression.parts, holds_one);
        case Kind::Not: return !test(expression.parts[0], current);
        case Kind::Exists:
            return expression.query.tail ? read(expression.query, current) != nullptr
                                         : !select(expression.query, {&current, 0}).empty();
        case Kind::Compare: return compare(expression, current);
        case Kind::Call: return matches(expression, current);
        default: return expression.literal.is_bool() && expression.literal.as_bool();
    }
}

bool Selection::compare(const Expression& expression, const Value& current) {
    if (expression.comparison == Operator::Matches) {
        return matches(expression, current);
    }
    const auto* left = evaluate(expression.parts[0], current);
    const auto* right = evaluate(expression.parts[1], current);
    return expression.comparison < Operator::LooselyEqual
               ? compare_rfc(expression.comparison, left, right, meter_)
               : compare_jayway(expression.comparison, left, right, meter_);
}

const Value* Selection::evaluate(const Expression& operand, const Value& current) {
    switch (operand.kind) {
        case Kind::Literal: return &operand.literal;
        case Kind::Path: return read(operand.query, current);
        case Kind::Call: return call(operand, current);
        default: return nullptr;
    }
}

/// The one value of a definite path; of others, which only Jayway takes here, the list.
const Value* Selection::read(const Query& query, const Value& current) {
    if (query.is_definite && !query.tail) {
        auto found = find(query, {&current, 0});
        return found ? found->value : nullptr;
    }
    auto read = read_all(query, {&current, 0});
    if (!read) {
        return nullptr;
    }
    if (!yields_one(query)) {
        return keep(Value::list(std::move(*read)));
    }
    return read->empty() ? nullptr : keep(std::move(read->front()));
}

std::expected<std::vector<Value>, Fault> Selection::read_all(const Query& query, Node current) {
    auto values = std::vector<Value>{};
    for (const auto& node : select(query, current)) {
        values.push_back(*node.value);
    }
    if (!query.tail || meter_.is_exhausted()) {
        return values;
    }
    auto arguments = std::vector<Value>{};
    for (const auto& argument : query.tail_arguments) {
        const auto* value = evaluate(argument, *current.value);
        arguments.push_back(value != nullptr ? *value : Value{});
    }
    if (query.has_descendants) {
        values = {Value::list(std::move(values))};
    }
    for (auto& value : values) {
        auto made = call_tail(*query.tail, value, arguments, meter_);
        if (!made) {
            made.error().position = query.position;
            return std::unexpected(std::move(made).error());
        }
        value = std::move(*made);
    }
    return values;
}

const Value* Selection::call(const Expression& expression, const Value& current) {
    const auto& argument = expression.parts[0];
    if (expression.function == Function::Count) {
        auto count = select(argument.query, {&current, 0}).size();
        return keep(Value{static_cast<std::int64_t>(count)});
    }
    if (expression.function == Function::Value) {
        auto nodes = select(argument.query, {&current, 0});
        return nodes.size() == 1 ? nodes[0].value : nullptr;
    }
    const auto* value = is_truth(expression.function) ? nullptr : evaluate(argument, current);
    if (value == nullptr) {
        return nullptr;
    }
    if (value->is_string() && meter_.spend_text(value->size())) {
        return keep(Value{code_points(value->as_string())});
    }
    auto has_length = value->is_list() || value->is_map();
    return has_length ? keep(Value{static_cast<std::int64_t>(value->size())}) : nullptr;
}

bool Selection::matches(const Expression& expression, const Value& current) {
    const auto* text = evaluate(expression.parts[0], current);
    const auto* pattern_text =
        expression.has_pattern ? nullptr : evaluate(expression.parts[1], current);
    if (text == nullptr || !text->is_string()) {
        return false;
    }
    const auto* pattern = pattern_of(expression, pattern_text);
    if (pattern == nullptr || !meter_.spend(cost_of(*pattern, text->size()))) {
        return false;
    }
    auto subject = text->as_string();
    auto piece = re2::StringPiece{subject.data(), subject.size()};
    auto is_search = expression.kind == Kind::Call && expression.function == Function::Search;
    return pattern->Match(piece, 0, piece.size(),
                          is_search ? re2::RE2::UNANCHORED : re2::RE2::ANCHOR_BOTH, nullptr, 0);
}

/// Patterns from data are often the same for each item.
const re2::RE2* Selection::pattern_of(const Expression& expression, const Value* text) {
    constexpr auto compile_steps = std::uint64_t{300};
    if (expression.has_pattern) {
        return expression.pattern.get();
    }
    if (text == nullptr || !text->is_string()) {
        return nullptr;
    }
    if (last_regexp_ != nullptr && last_pattern_ == text->as_string()) {
        return last_regexp_.get();
    }
    if (!meter_.spend(compile_steps + text->size())) {
        return nullptr;
    }
    last_pattern_ = text->as_string();
    auto translated = expression.kind == Kind::Call ? translate_iregexp(last_pattern_)
                                                    : std::optional{last_pattern_};
    last_regexp_ = translated ? compile_regexp(*translated) : nullptr;
    if (last_regexp_ != nullptr) {
        meter_.spend(static_cast<std::uint64_t>(std::max(last_regexp_->ProgramSize(), 0)));
    }
    return last_regexp_.get();
}

const Value* Selection::keep(Value value) {
    return &made_.emplace_back(std::move(value));
}

} // namespace sluice::expr::jsonpath::internal
