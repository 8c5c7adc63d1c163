#include "expr/cel/runtime/arithmetic.h"

#include <array>
#include <concepts>
#include <limits>
#include <optional>

namespace sluice::expr::cel::runtime {
namespace {

__extension__ using Wide = __int128;

constexpr auto billion = std::int64_t{1'000'000'000};

std::string_view symbol_of(Arithmetic op) {
    constexpr auto symbols = std::array<std::string_view, 5>{"+", "-", "*", "/", "%"};
    return symbols[static_cast<std::size_t>(op)];
}

Cell no_operator(Arithmetic op, const Cell& left, const Cell& right, Machine& machine) {
    return machine.fault("no_such_overload", "there is no {} {} {}", name_of(left.kind()),
                         symbol_of(op), name_of(right.kind()));
}

Cell out_of_range(Arithmetic op, Kind kind, Machine& machine) {
    return machine.fault("overflow", "the result of {} is out of the range of {}", symbol_of(op),
                         name_of(kind));
}

template <std::integral Integer>
std::optional<Integer> checked(Arithmetic op, Integer left, Integer right) {
    auto result = Integer{0};
    auto overflows = op == Arithmetic::Add        ? __builtin_add_overflow(left, right, &result)
                     : op == Arithmetic::Subtract ? __builtin_sub_overflow(left, right, &result)
                                                  : __builtin_mul_overflow(left, right, &result);
    return overflows ? std::nullopt : std::optional{result};
}

Cell cell_of(std::int64_t number) {
    return Cell::integer(number);
}
Cell cell_of(std::uint64_t number) {
    return Cell::unsigned_integer(number);
}

template <std::integral Integer>
Cell divide(Arithmetic op, Integer left, Integer right, Machine& machine) {
    if (right == 0) {
        return machine.fault("divide_by_zero", "{} {} 0", left, symbol_of(op));
    }
    if constexpr (std::signed_integral<Integer>) {
        // The one quotient that does not fit; the processor would trap.
        if (right == -1 && left == std::numeric_limits<Integer>::min()) {
            return op == Arithmetic::Divide ? out_of_range(op, Kind::Int, machine)
                                            : cell_of(Integer{0});
        }
    }
    return cell_of(op == Arithmetic::Divide ? left / right : left % right);
}

template <std::integral Integer>
Cell compute_integers(Arithmetic op, Integer left, Integer right, Machine& machine) {
    if (op == Arithmetic::Divide || op == Arithmetic::Remainder) {
        return divide(op, left, right, machine);
    }
    auto result = checked(op, left, right);
    return result ? cell_of(*result) : out_of_range(op, cell_of(left).kind(), machine);
}

Cell compute_doubles(Arithmetic op, const Cell& left, const Cell& right, Machine& machine) {
    auto a = left.as_double();
    auto b = right.as_double();
    switch (op) {
        case Arithmetic::Add: return Cell::real(a + b);
        case Arithmetic::Subtract: return Cell::real(a - b);
        case Arithmetic::Multiply: return Cell::real(a * b);
        case Arithmetic::Divide: return Cell::real(a / b);
        default: return no_operator(op, left, right, machine);
    }
}

Cell join_texts(const Cell& left, const Cell& right, Machine& machine) {
    auto bytes = left.size() + right.size();
    auto room = machine.affords_text(bytes) ? machine.arena().make<char>(bytes) : std::span<char>{};
    if (room.size() != bytes) {
        return machine.budget_fault();
    }
    left.text().copy(room.data(), left.size());
    right.text().copy(room.data() + left.size(), right.size());
    auto joined = std::string_view{room.data(), bytes};
    return left.is(Kind::String) ? Cell::string(joined) : Cell::bytes(joined);
}

Cell join_lists(const Cell& left, const Cell& right, Machine& machine) {
    auto count = left.size() + right.size();
    auto room =
        machine.meter().spend(count) ? machine.arena().make<Cell>(count) : std::span<Cell>{};
    if (room.size() != count) {
        return machine.budget_fault();
    }
    for (auto at = std::size_t{0}; at < count; ++at) {
        room[at] = at < left.size() ? left.item(at) : right.item(at - left.size());
    }
    return Cell::list(room);
}

Cell move_moment(Arithmetic op, Moment moment, std::int64_t nanos, Machine& machine) {
    auto sign = op == Arithmetic::Add ? 1 : -1;
    auto total = static_cast<Wide>(moment.seconds) * billion + moment.nanos +
                 static_cast<Wide>(nanos) * sign;
    auto seconds = total / billion;
    auto rest = total % billion;
    if (rest < 0) {
        rest += billion;
        --seconds;
    }
    auto moved = Moment{static_cast<std::int64_t>(seconds), static_cast<std::uint32_t>(rest)};
    return is_in_range(moved) ? Cell::timestamp(moved) : out_of_range(op, Kind::Timestamp, machine);
}

Cell between(Moment left, Moment right, Machine& machine) {
    auto nanos = static_cast<Wide>(left.seconds - right.seconds) * billion + left.nanos -
                 static_cast<Wide>(right.nanos);
    auto fits = nanos >= std::numeric_limits<std::int64_t>::min() &&
                nanos <= std::numeric_limits<std::int64_t>::max();
    return fits ? Cell::duration(static_cast<std::int64_t>(nanos))
                : out_of_range(Arithmetic::Subtract, Kind::Duration, machine);
}

/// timestamp ± duration, duration ± duration, duration + timestamp, timestamp - timestamp.
Cell compute_times(Arithmetic op, const Cell& left, const Cell& right, Machine& machine) {
    auto is_moment = left.is(Kind::Timestamp);
    if (op != Arithmetic::Add && op != Arithmetic::Subtract) {
        return no_operator(op, left, right, machine);
    }
    if (is_moment && right.is(Kind::Duration)) {
        return move_moment(op, left.as_timestamp(), right.as_duration(), machine);
    }
    if (op == Arithmetic::Add && left.is(Kind::Duration) && right.is(Kind::Timestamp)) {
        return move_moment(op, right.as_timestamp(), left.as_duration(), machine);
    }
    if (op == Arithmetic::Subtract && is_moment) {
        return between(left.as_timestamp(), right.as_timestamp(), machine);
    }
    if (is_moment || right.is(Kind::Timestamp)) {
        return no_operator(op, left, right, machine);
    }
    auto nanos = checked(op, left.as_duration(), right.as_duration());
    return nanos ? Cell::duration(*nanos) : out_of_range(op, Kind::Duration, machine);
}

bool is_temporal(const Cell& cell) {
    return cell.is(Kind::Timestamp) || cell.is(Kind::Duration);
}

} // namespace

bool is_in_range(Moment moment) {
    return moment.seconds >= -62'135'596'800 && moment.seconds <= 253'402'300'799;
}

Cell compute(Arithmetic op, const Cell& left, const Cell& right, Machine& machine) {
    if (is_temporal(left) && is_temporal(right)) {
        return compute_times(op, left, right, machine);
    }
    if (left.kind() != right.kind()) {
        return no_operator(op, left, right, machine);
    }
    switch (left.kind()) {
        case Kind::Int: return compute_integers(op, left.as_int(), right.as_int(), machine);
        case Kind::Uint: return compute_integers(op, left.as_uint(), right.as_uint(), machine);
        case Kind::Double: return compute_doubles(op, left, right, machine);
        default: break;
    }
    if (op == Arithmetic::Add && (left.is(Kind::String) || left.is(Kind::Bytes))) {
        return join_texts(left, right, machine);
    }
    if (op == Arithmetic::Add && left.is(Kind::List)) {
        return join_lists(left, right, machine);
    }
    return no_operator(op, left, right, machine);
}

Cell negate(const Cell& operand, Machine& machine) {
    if (operand.is(Kind::Double)) {
        return Cell::real(-operand.as_double());
    }
    if (operand.is(Kind::Int)) {
        return compute_integers(Arithmetic::Subtract, std::int64_t{0}, operand.as_int(), machine);
    }
    return machine.fault("no_such_overload", "there is no -{}", name_of(operand.kind()));
}

} // namespace sluice::expr::cel::runtime
