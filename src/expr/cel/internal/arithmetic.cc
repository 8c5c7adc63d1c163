#include "expr/cel/internal/arithmetic.h"

#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "expr/cel/internal/fault.h"

namespace sluice::expr::cel::internal {
namespace {

using value::Kind;

std::string_view symbol_of(Op op) {
    switch (op) {
        case Op::Add: return "+";
        case Op::Subtract: return "-";
        case Op::Multiply: return "*";
        case Op::Divide: return "/";
        default: return "%";
    }
}

Outcome no_overload(Op op, const Value& left, const Value& right) {
    return fault("no_such_overload", "there is no {} {} {}", to_string(left.kind()), symbol_of(op),
                 to_string(right.kind()));
}

Outcome out_of_range(Op op, const Value& left) {
    return fault("overflow", "the result of {} is out of the range of {}", symbol_of(op),
                 to_string(left.kind()));
}

template <std::integral Integer>
std::optional<Integer> checked(Op op, Integer left, Integer right) {
    auto result = Integer{0};
    auto overflows = op == Op::Add        ? __builtin_add_overflow(left, right, &result)
                     : op == Op::Subtract ? __builtin_sub_overflow(left, right, &result)
                                          : __builtin_mul_overflow(left, right, &result);
    return overflows ? std::nullopt : std::optional{result};
}

template <std::integral Integer>
Outcome divide(Op op, Integer left, Integer right) {
    if (right == 0) {
        return fault("divide_by_zero", "{} {} 0", left, symbol_of(op));
    }
    if constexpr (std::signed_integral<Integer>) {
        // The one quotient that does not fit; the remainder is 0 but the processor would trap.
        if (right == -1 && left == std::numeric_limits<Integer>::min()) {
            return op == Op::Divide ? out_of_range(op, left) : Outcome{Value{Integer{0}}};
        }
    }
    return Value{op == Op::Divide ? left / right : left % right};
}

template <std::integral Integer>
Outcome compute_integers(Op op, Integer left, Integer right) {
    if (op == Op::Divide || op == Op::Remainder) {
        return divide(op, left, right);
    }
    auto result = checked(op, left, right);
    return result ? Outcome{Value{*result}} : out_of_range(op, Value{left});
}

Outcome compute_doubles(Op op, const Value& left, const Value& right) {
    auto a = left.as_double();
    auto b = right.as_double();
    switch (op) {
        case Op::Add: return Value{a + b};
        case Op::Subtract: return Value{a - b};
        case Op::Multiply: return Value{a * b};
        case Op::Divide: return Value{a / b};
        default: return no_overload(op, left, right);
    }
}

std::string_view bytes_of(const Value& text) {
    return text.is_string() ? text.as_string() : text.as_bytes();
}

Outcome join_texts(const Value& left, const Value& right, Meter& meter) {
    auto bytes = left.size() + right.size();
    if (bytes > meter.text_bytes_max() || !meter.spend_text(bytes)) {
        meter.exhaust();
        return budget_fault();
    }
    auto joined = std::string{bytes_of(left)};
    joined += bytes_of(right);
    return left.is_string() ? Value{joined} : Value::bytes(joined);
}

Outcome join_lists(const Value& left, const Value& right, Meter& meter) {
    if (!meter.spend(left.size() + right.size())) {
        return budget_fault();
    }
    auto items = std::vector<Value>{left.as_list().begin(), left.as_list().end()};
    items.insert(items.end(), right.as_list().begin(), right.as_list().end());
    return Value::list(std::move(items));
}

std::int64_t nanos_of(const Value& value) {
    return value.is_duration() ? value.as_duration().count()
                               : value.as_timestamp().time_since_epoch().count();
}

/// timestamp ± duration, duration ± duration, duration + timestamp, timestamp - timestamp.
Outcome compute_times(Op op, const Value& left, const Value& right) {
    auto times = (left.is_timestamp() ? 1 : 0) + (right.is_timestamp() ? 1 : 0);
    auto is_sum = op == Op::Add && times < 2;
    auto is_difference = op == Op::Subtract && !(left.is_duration() && right.is_timestamp());
    if (!is_sum && !is_difference) {
        return no_overload(op, left, right);
    }
    auto nanos = checked(op, nanos_of(left), nanos_of(right));
    if (!nanos) {
        return out_of_range(op, left);
    }
    return times == 1 ? Value{Time{Nanos{*nanos}}} : Value{Nanos{*nanos}};
}

bool is_temporal(const Value& value) {
    return value.is_timestamp() || value.is_duration();
}

} // namespace

Outcome compute(Op op, const Value& left, const Value& right, Meter& meter) {
    if (is_temporal(left) && is_temporal(right)) {
        return compute_times(op, left, right);
    }
    if (left.kind() != right.kind()) {
        return no_overload(op, left, right);
    }
    switch (left.kind()) {
        case Kind::Int: return compute_integers(op, left.as_int(), right.as_int());
        case Kind::Uint: return compute_integers(op, left.as_uint(), right.as_uint());
        case Kind::Double: return compute_doubles(op, left, right);
        default: break;
    }
    if (op == Op::Add && (left.is_string() || left.is_bytes())) {
        return join_texts(left, right, meter);
    }
    if (op == Op::Add && left.is_list()) {
        return join_lists(left, right, meter);
    }
    return no_overload(op, left, right);
}

Outcome negate(const Value& operand) {
    if (operand.is_double()) {
        return Value{-operand.as_double()};
    }
    if (operand.is_int()) {
        return compute_integers(Op::Subtract, std::int64_t{0}, operand.as_int());
    }
    return fault("no_such_overload", "there is no -{}", to_string(operand.kind()));
}

} // namespace sluice::expr::cel::internal
