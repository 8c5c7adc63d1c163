#include "expr/cel/internal/step.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "expr/cel/internal/arithmetic.h"
#include "expr/cel/internal/comparison.h"
#include "expr/cel/internal/conversion.h"
#include "expr/cel/internal/excerpt.h"
#include "expr/cel/internal/fault.h"

namespace sluice::expr::cel::internal {
namespace {

using value::Kind;

bool satisfies(Op op, std::partial_ordering order) {
    switch (op) {
        case Op::Less: return order < 0;
        case Op::LessEqual: return order <= 0;
        case Op::Greater: return order > 0;
        default: return order >= 0;
    }
}

Outcome compare_order(Op op, const Value& left, const Value& right, Meter& meter) {
    auto ordering = order(left, right, meter);
    if (!ordering) {
        return fault("no_such_overload", "there is no order between {} and {}",
                     to_string(left.kind()), to_string(right.kind()));
    }
    return Value{satisfies(op, *ordering)};
}

Outcome is_in(const Value& needle, const Value& container, Meter& meter) {
    if (container.is_map()) {
        return Value{needle.is_string() && container.find(needle.as_string()) != nullptr};
    }
    if (!container.is_list()) {
        return fault("no_such_overload", "\"in\" expects a list or a map, found {}",
                     to_string(container.kind()));
    }
    return Value{std::ranges::any_of(container.as_list(), [&](const Value& item) {
        return meter.spend(1) && are_equal(needle, item, meter);
    })};
}

/// The place an index names, or the size when it names none.
std::optional<std::size_t> place_in(std::size_t size, const Value& index) {
    switch (index.kind()) {
        case Kind::Int:
            return index.as_int() < 0 ? size : std::min<std::uint64_t>(index.as_int(), size);
        case Kind::Uint: return std::min<std::uint64_t>(index.as_uint(), size);
        case Kind::Double: break;
        default: return std::nullopt;
    }
    auto number = index.as_double();
    if (std::trunc(number) != number) {
        return std::nullopt;
    }
    return number >= 0 && number < static_cast<double>(size) ? static_cast<std::size_t>(number)
                                                             : size;
}

Outcome list_item(const Value& list, const Value& index) {
    auto place = place_in(list.size(), index);
    if (!place) {
        return fault("no_such_overload", "a list is indexed by whole numbers, found {}",
                     to_string(index.kind()));
    }
    if (*place >= list.size()) {
        return fault("no_such_member", "the index is outside the list of {}", list.size());
    }
    return list.as_list()[*place];
}

Outcome item_at(const Value& container, const Value& index) {
    if (container.is_list()) {
        return list_item(container, index);
    }
    if (!container.is_map()) {
        return fault("no_such_overload", "[] expects a list or a map, found {}",
                     to_string(container.kind()));
    }
    if (!index.is_string()) {
        return fault("no_such_member", "the map has no key of kind {}", to_string(index.kind()));
    }
    return select(container, index.as_string());
}

Outcome size_of(const Value& operand, Meter& meter) {
    switch (operand.kind()) {
        case Kind::String:
            meter.spend_text(operand.size());
            return Value{static_cast<std::int64_t>(count_code_points(operand.as_string()))};
        case Kind::Bytes:
        case Kind::List:
        case Kind::Map: return Value{static_cast<std::int64_t>(operand.size())};
        default:
            return fault("no_such_overload", "there is no size({})", to_string(operand.kind()));
    }
}

bool contains(std::string_view text, std::string_view part) {
    // Linear, which std::string_view::find is not.
    return part.empty() || memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

Outcome search(Op op, const Value& text, const Value& part, Meter& meter) {
    if (!text.is_string() || !part.is_string()) {
        return fault("no_such_overload", "searching a text expects two texts, found {} and {}",
                     to_string(text.kind()), to_string(part.kind()));
    }
    auto whole = text.as_string();
    auto wanted = part.as_string();
    if (op == Op::Contains) {
        meter.spend_text(whole.size() + wanted.size());
        return Value{contains(whole, wanted)};
    }
    meter.spend_text(wanted.size());
    return Value{op == Op::StartsWith ? whole.starts_with(wanted) : whole.ends_with(wanted)};
}

} // namespace

Outcome apply(Op op, const Value& left, const Value& right, Meter& meter) {
    if (op >= Op::Add && op <= Op::Remainder) {
        return compute(op, left, right, meter);
    }
    if (op >= Op::Less && op <= Op::GreaterEqual) {
        return compare_order(op, left, right, meter);
    }
    if (op >= Op::ToString && op <= Op::ToBool) {
        return convert(op, left);
    }
    switch (op) {
        case Op::Equal: return Value{are_equal(left, right, meter)};
        case Op::NotEqual: return Value{!are_equal(left, right, meter)};
        case Op::In: return is_in(left, right, meter);
        case Op::Index: return item_at(left, right);
        case Op::Size: return size_of(left, meter);
        default: return search(op, left, right, meter);
    }
}

Outcome select(const Value& left, std::string_view name) {
    if (!left.is_map()) {
        return fault("no_such_overload", "expected a map with \"{}\", found {}", excerpt(name),
                     to_string(left.kind()));
    }
    const auto* found = left.find(name);
    return found != nullptr ? Outcome{*found}
                            : fault("no_such_member", "there is no member \"{}\"", excerpt(name));
}

Outcome has_member(const Value& left, std::string_view name) {
    if (!left.is_map()) {
        return fault("no_such_overload", "has() expects a map, found {}", to_string(left.kind()));
    }
    return Value{left.find(name) != nullptr};
}

} // namespace sluice::expr::cel::internal
