#include "expr/jsonpath/internal/comparison.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "value/json.h"

namespace sluice::expr::jsonpath::internal {
namespace {

/// Long doubles hold every int64 and uint64 exactly.
long double exact(const Value& number) {
    switch (number.kind()) {
        case value::Kind::Int: return static_cast<long double>(number.as_int());
        case value::Kind::Uint: return static_cast<long double>(number.as_uint());
        default: return number.as_double();
    }
}

bool are_lists_equal(const Value& left, const Value& right, Meter& meter, std::size_t depth) {
    return left.size() == right.size() &&
           std::ranges::equal(left.as_list(), right.as_list(), [&](const auto& a, const auto& b) {
               return are_equal(a, b, meter, depth + 1);
           });
}

bool are_maps_equal(const Value& left, const Value& right, Meter& meter, std::size_t depth) {
    return left.size() == right.size() &&
           std::ranges::all_of(left.as_map(), [&](const auto& member) {
               const auto* other = right.find(member.key);
               return other != nullptr && are_equal(member.value, *other, meter, depth + 1);
           });
}

/// Numbers and texts have an order, the rest has none.
std::partial_ordering order_of(const Value& left, const Value& right, Meter& meter) {
    if (left.is_number() && right.is_number()) {
        return order_of_numbers(left, right);
    }
    if (left.is_string() && right.is_string() && meter.spend_text(left.size())) {
        // UTF-8 sorts as its code points do.
        return left.as_string() <=> right.as_string();
    }
    return std::partial_ordering::unordered;
}

/// A text beside a number is the number it says, or the number its text.
bool are_loosely_equal(const Value& left, const Value& right, Meter& meter) {
    if (left.is_string() && right.is_number()) {
        return left.as_string() == value::to_json(right);
    }
    if (left.is_number() && right.is_string()) {
        auto text = right.as_string();
        auto number = 0.0;
        auto read = std::from_chars(text.data(), text.data() + text.size(), number);
        return read.ec == std::errc{} && read.ptr == text.data() + text.size() &&
               order_of_numbers(left, Value{number}) == 0;
    }
    return are_equal(left, right, meter);
}

bool holds(const Value& list, const Value& wanted, Meter& meter) {
    return list.is_list() && std::ranges::any_of(list.as_list(), [&](const auto& item) {
               return are_loosely_equal(item, wanted, meter);
           });
}

bool contains(const Value& left, const Value& right, Meter& meter) {
    if (left.is_string() && right.is_string()) {
        // A search costs the product of both at worst.
        return meter.spend_text(left.size() * (1 + right.size() / 8)) &&
               left.as_string().find(right.as_string()) != std::string_view::npos;
    }
    return holds(left, right, meter);
}

bool is_sized(const Value& value) {
    return value.is_string() || value.is_list() || value.is_map();
}

/// A text has as many characters as code points.
bool has_size(const Value& value, const Value& wanted, Meter& meter) {
    if (!is_sized(value) || !wanted.is_number() || !meter.spend_text(value.size())) {
        return false;
    }
    auto size = static_cast<std::int64_t>(value.size());
    if (value.is_string()) {
        size = std::ranges::count_if(value.as_string(), [](char c) { return (c & 0xC0) != 0x80; });
    }
    return order_of_numbers(Value{size}, wanted) == 0;
}

bool is_kind_the_same(const Value& left, const Value& right) {
    return left.kind() == right.kind() || (left.is_number() && right.is_number());
}

bool compare_lists(Operator comparison, const Value& left, const Value& right, Meter& meter) {
    if (!left.is_list() || !right.is_list()) {
        return false;
    }
    auto is_inside = [&](const Value& item) { return holds(right, item, meter); };
    switch (comparison) {
        case Operator::SubsetOf: return std::ranges::all_of(left.as_list(), is_inside);
        case Operator::AnyOf: return std::ranges::any_of(left.as_list(), is_inside);
        default: return std::ranges::none_of(left.as_list(), is_inside);
    }
}

} // namespace

std::partial_ordering order_of_numbers(const Value& left, const Value& right) {
    return exact(left) <=> exact(right);
}

bool are_equal(const Value& left, const Value& right, Meter& meter, std::size_t depth) {
    if (depth > value_depth_max || !meter.spend(1)) {
        meter.exhaust();
        return false;
    }
    if (left.is_number() && right.is_number()) {
        return order_of_numbers(left, right) == 0;
    }
    if (left.kind() != right.kind()) {
        return false;
    }
    if (left.is_list()) {
        return are_lists_equal(left, right, meter, depth);
    }
    if (left.is_map()) {
        return are_maps_equal(left, right, meter, depth);
    }
    return meter.spend_text(left.size()) && left == right;
}

bool compare_rfc(Operator comparison, const Value* left, const Value* right, Meter& meter) {
    auto equal = [&] {
        return left != nullptr && right != nullptr ? are_equal(*left, *right, meter)
                                                   : left == right;
    };
    auto less = [&](const Value* a, const Value* b) {
        return a != nullptr && b != nullptr && order_of(*a, *b, meter) < 0;
    };
    switch (comparison) {
        case Operator::Equal: return equal();
        case Operator::NotEqual: return !equal();
        case Operator::Less: return less(left, right);
        case Operator::Greater: return less(right, left);
        case Operator::LessEqual: return less(left, right) || equal();
        default: return less(right, left) || equal();
    }
}

bool compare_jayway(Operator comparison, const Value* left, const Value* right, Meter& meter) {
    if (left == nullptr || right == nullptr) {
        return comparison == Operator::LooselyNotEqual ||
               comparison == Operator::StrictlyNotEqual || comparison == Operator::NotIn;
    }
    switch (comparison) {
        case Operator::LooselyEqual: return are_loosely_equal(*left, *right, meter);
        case Operator::LooselyNotEqual: return !are_loosely_equal(*left, *right, meter);
        case Operator::StrictlyEqual:
            return is_kind_the_same(*left, *right) && are_equal(*left, *right, meter);
        case Operator::StrictlyNotEqual:
            return !is_kind_the_same(*left, *right) || !are_equal(*left, *right, meter);
        case Operator::Before: return order_of(*left, *right, meter) < 0;
        case Operator::After: return order_of(*left, *right, meter) > 0;
        case Operator::BeforeOrEqual: return order_of(*left, *right, meter) <= 0;
        case Operator::AfterOrEqual: return order_of(*left, *right, meter) >= 0;
        case Operator::In: return holds(*right, *left, meter);
        case Operator::NotIn: return !holds(*right, *left, meter);
        case Operator::Contains: return contains(*left, *right, meter);
        case Operator::Size: return has_size(*left, *right, meter);
        case Operator::Empty: {
            auto empty = has_size(*left, Value{0}, meter);
            return is_sized(*left) && right->is_bool() && empty == right->as_bool();
        }
        default: return compare_lists(comparison, *left, *right, meter);
    }
}

} // namespace sluice::expr::jsonpath::internal
