#include "expr/jsonata/internal/operators.h"

#include <algorithm>
#include <cmath>

#include "expr/jsonata/internal/raise.h"
#include "expr/jsonata/internal/text.h"

namespace sluice::expr::jsonata::internal {
namespace {

constexpr std::int64_t range_items_max = 10'000'000;

std::optional<std::int64_t> calculate_exactly(Operator op, std::int64_t left, std::int64_t right) {
    auto result = std::int64_t{0};
    switch (op) {
        case Operator::Add:
            return __builtin_add_overflow(left, right, &result) ? std::nullopt
                                                                : std::optional{result};
        case Operator::Subtract:
            return __builtin_sub_overflow(left, right, &result) ? std::nullopt
                                                                : std::optional{result};
        case Operator::Multiply:
            return __builtin_mul_overflow(left, right, &result) ? std::nullopt
                                                                : std::optional{result};
        case Operator::Divide:
            return right == 0 || right == -1 || left % right != 0 ? std::nullopt
                                                                  : std::optional{left / right};
        default: return right == 0 || right == -1 ? std::nullopt : std::optional{left % right};
    }
}

double calculate_roughly(Operator op, double left, double right) {
    switch (op) {
        case Operator::Add: return left + right;
        case Operator::Subtract: return left - right;
        case Operator::Multiply: return left * right;
        case Operator::Divide: return left / right;
        default: return std::fmod(left, right);
    }
}

int order_of(const Item& left, const Item& right) {
    if (left.type == Type::Int && right.type == Type::Int) {
        return left.integer < right.integer ? -1 : static_cast<int>(left.integer > right.integer);
    }
    if (left.is_string()) {
        return compare_units(left.as_text(), right.as_text());
    }
    auto one = left.as_double();
    auto other = right.as_double();
    return one < other ? -1 : static_cast<int>(one > other);
}

void check_depth(std::size_t depth) {
    if (depth > value_depth_max) {
        raise("U1001", "a value is nested deeper than {}", value_depth_max);
    }
}

bool is_equal_array(const Item& left, const Item& right, Arena& arena, std::size_t depth) {
    auto ours = Items{left, arena};
    auto theirs = Items{right, arena};
    auto is_same_size = ours.size() == theirs.size();
    for (auto i = std::size_t{0}; is_same_size && i < ours.size(); ++i) {
        if (!is_equal(ours[i], theirs[i], arena, depth + 1)) {
            return false;
        }
    }
    return is_same_size;
}

bool is_equal_object(const Item& left, const Item& right, Arena& arena, std::size_t depth) {
    auto ours = Members{left};
    if (ours.size() != Members{right}.size()) {
        return false;
    }
    for (auto i = std::size_t{0}; i < ours.size(); ++i) {
        auto other = member_of(right, ours.key(i), arena);
        if (other.is_undefined() || !is_equal(ours.value(i, arena), other, arena, depth + 1)) {
            return false;
        }
    }
    return true;
}

std::string_view sign_of(Operator op) {
    switch (op) {
        case Operator::Add: return "+";
        case Operator::Subtract: return "-";
        case Operator::Multiply: return "*";
        case Operator::Divide: return "/";
        case Operator::Remainder: return "%";
        case Operator::Less: return "<";
        case Operator::LessOrEqual: return "<=";
        case Operator::Greater: return ">";
        default: return ">=";
    }
}

/// A text or a number, for messages.
std::string word_for(const Item& item) {
    return item.is_string() ? fmt::format("\"{}\"", item.as_text().substr(0, 100))
                            : number_text(item);
}

} // namespace

bool truth_of(const Item& item, Arena& arena, std::size_t depth) {
    switch (item.type) {
        case Type::Bool: return item.truth;
        case Type::Int: return item.integer != 0;
        case Type::Double: return item.real != 0 && !std::isnan(item.real);
        case Type::String: return item.length != 0;
        case Type::Map:
        case Type::Object: return Members{item}.size() != 0;
        case Type::List:
        case Type::Array: break;
        default: return false;
    }
    check_depth(depth);
    auto items = Items{item, arena};
    for (auto i = std::size_t{0}; i < items.size(); ++i) {
        if (truth_of(items[i], arena, depth + 1)) {
            return true;
        }
    }
    return false;
}

bool is_equal(const Item& left, const Item& right, Arena& arena, std::size_t depth) {
    check_depth(depth);
    if (left.is_array() && right.is_array()) {
        return is_equal_array(left, right, arena, depth);
    }
    if (left.is_object() && right.is_object()) {
        return is_equal_object(left, right, arena, depth);
    }
    return is_same(left, right);
}

bool is_same(const Item& left, const Item& right) {
    if (left.is_number() && right.is_number()) {
        return order_of(left, right) == 0;
    }
    if (left.type != right.type) {
        return false;
    }
    switch (left.type) {
        case Type::Undefined:
        case Type::Null: return true;
        case Type::Bool: return left.truth == right.truth;
        case Type::String: return left.as_text() == right.as_text();
        case Type::List:
        case Type::Map: return left.value == right.value;
        default: return left.array == right.array;
    }
}

bool is_finite_number(const Item& item) {
    if (item.type == Type::Double && !std::isfinite(item.real)) {
        if (std::isnan(item.real)) {
            return false;
        }
        raise("D1001", "number out of range: {}", item.real);
    }
    return item.is_number();
}

Item calculate(Operator op, const Item& left, const Item& right, std::size_t position) {
    if (!left.is_undefined() && !is_finite_number(left)) {
        raise_at(position, "T2001",
                 "the left side of the \"{}\" operator must evaluate to a number", sign_of(op));
    }
    if (!right.is_undefined() && !is_finite_number(right)) {
        raise_at(position, "T2002",
                 "the right side of the \"{}\" operator must evaluate to a number", sign_of(op));
    }
    if (left.is_undefined() || right.is_undefined()) {
        return {};
    }
    if (left.type == Type::Int && right.type == Type::Int) {
        if (auto exact = calculate_exactly(op, left.integer, right.integer)) {
            return Item::of(*exact);
        }
    }
    return Item::of(calculate_roughly(op, left.as_double(), right.as_double()));
}

Item compare(Operator op, const Item& left, const Item& right, std::size_t position) {
    auto is_comparable = [](const Item& item) {
        return item.is_undefined() || item.is_string() || item.is_number();
    };
    if (!is_comparable(left) || !is_comparable(right)) {
        raise_at(
            position, "T2010",
            "the expressions either side of operator \"{}\" must evaluate to numeric or string "
            "values",
            sign_of(op));
    }
    if (left.is_undefined() || right.is_undefined()) {
        return {};
    }
    if (left.is_string() != right.is_string()) {
        raise_at(
            position, "T2009",
            "the values {} and {} either side of operator \"{}\" must be of the same data type",
            word_for(left), word_for(right), sign_of(op));
    }
    auto order = order_of(left, right);
    switch (op) {
        case Operator::Less: return Item::of(order < 0);
        case Operator::LessOrEqual: return Item::of(order <= 0);
        case Operator::Greater: return Item::of(order > 0);
        default: return Item::of(order >= 0);
    }
}

Item range(const Item& left, const Item& right, std::size_t position, Evaluator& evaluator) {
    auto is_whole = [](const Item& item) {
        return item.is_undefined() || item.type == Type::Int ||
               (item.type == Type::Double && number(item.real).type == Type::Int);
    };
    if (!is_whole(left)) {
        raise_at(position, "T2003", "the left side of the range operator (..) must be an integer");
    }
    if (!is_whole(right)) {
        raise_at(position, "T2004", "the right side of the range operator (..) must be an integer");
    }
    if (left.is_undefined() || right.is_undefined()) {
        return {};
    }
    auto whole_of = [](const Item& item) {
        return item.type == Type::Int ? item.integer : static_cast<std::int64_t>(item.real);
    };
    auto first = whole_of(left);
    auto last = whole_of(right);
    if (first > last) {
        return {};
    }
    auto more = std::int64_t{0};
    if (__builtin_sub_overflow(last, first, &more) || more >= range_items_max) {
        raise_at(position, "D2014",
                 "the size of the sequence allocated by the range operator (..) must not exceed "
                 "1e7");
    }
    auto* sequence = make_sequence(evaluator.arena());
    sequence->is_range = true;
    sequence->first = first;
    sequence->size = static_cast<std::uint32_t>(more + 1);
    return Item::of(sequence);
}

Item append(const Item& left, const Item& right, Evaluator& evaluator) {
    if (left.is_undefined() || right.is_undefined()) {
        return left.is_undefined() ? right : left;
    }
    auto& arena = evaluator.arena();
    auto ours = Items{left, arena};
    auto theirs = Items{right, arena};
    evaluator.spend((ours.size() + theirs.size()) / 8);
    auto* joined = make_array(arena);
    joined->reserve(arena, ours.size() + theirs.size());
    for (auto i = std::size_t{0}; i < ours.size(); ++i) {
        joined->push(arena, ours[i]);
    }
    for (auto i = std::size_t{0}; i < theirs.size(); ++i) {
        joined->push(arena, theirs[i]);
    }
    return Item::of(joined);
}

Item clone(const Item& item, Evaluator& evaluator, std::size_t depth) {
    check_depth(depth);
    auto& arena = evaluator.arena();
    evaluator.spend(1);
    if (item.is_array()) {
        auto items = Items{item, arena};
        auto* array = make_array(arena);
        for (auto i = std::size_t{0}; i < items.size(); ++i) {
            array->push(arena, clone(items[i], evaluator, depth + 1));
        }
        return Item::of(array);
    }
    if (item.is_object()) {
        auto members = Members{item};
        auto* object = arena.make<Object>();
        for (auto i = std::size_t{0}; i < members.size(); ++i) {
            object->set(arena, members.key(i),
                        clone(members.value(i, arena), evaluator, depth + 1));
        }
        return Item::of(object);
    }
    return item;
}

} // namespace sluice::expr::jsonata::internal
