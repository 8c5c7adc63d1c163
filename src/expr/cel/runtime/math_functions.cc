#include <array>
#include <bit>
#include <cmath>

#include "expr/cel/runtime/comparison.h"
#include "expr/cel/runtime/function.h"

namespace sluice::expr::cel::runtime {
namespace {

Cell extreme(Machine& machine, std::string_view name, std::partial_ordering wanted,
             Arguments arguments) {
    auto is_list = arguments.size() == 1 && arguments[0].is(Kind::List);
    auto count = is_list ? arguments[0].size() : arguments.size();
    if (count == 0) {
        return machine.fault("no_such_overload", "{}() expects at least one number", name);
    }
    auto found = Cell{};
    for (auto at = std::size_t{0}; at < count; ++at) {
        auto number = is_list ? arguments[0].item(at) : arguments[at];
        if (!machine.meter().spend(1)) {
            return machine.budget_fault();
        }
        if (!number.is_number()) {
            return machine.fault("no_such_overload", "{}() expects numbers, found {}", name,
                                 name_of(number.kind()));
        }
        if (at == 0 || compare_numbers(number, found) == wanted) {
            found = number;
        }
    }
    return found;
}

Cell greatest(Machine& machine, Arguments arguments) {
    return extreme(machine, "math.greatest", std::partial_ordering::greater, arguments);
}

Cell least(Machine& machine, Arguments arguments) {
    return extreme(machine, "math.least", std::partial_ordering::less, arguments);
}

template <double (*round)(double)>
Cell rounded(Machine& machine, Arguments arguments) {
    return arguments[0].is(Kind::Double)
               ? Cell::real(round(arguments[0].as_double()))
               : machine.no_overload("math.ceil/floor/round/trunc", arguments);
}

Cell absolute(Machine& machine, Arguments arguments) {
    const auto& number = arguments[0];
    switch (number.kind()) {
        case Kind::Double: return Cell::real(std::fabs(number.as_double()));
        case Kind::Uint: return number;
        case Kind::Int: break;
        default: return machine.no_overload("math.abs", arguments);
    }
    if (number.as_int() == INT64_MIN) {
        return machine.fault("overflow", "the result of math.abs() is out of the range of int");
    }
    return Cell::integer(std::abs(number.as_int()));
}

Cell sign(Machine& machine, Arguments arguments) {
    const auto& number = arguments[0];
    switch (number.kind()) {
        case Kind::Uint: return Cell::unsigned_integer(number.as_uint() == 0 ? 0 : 1);
        case Kind::Int: return Cell::integer((number.as_int() > 0) - (number.as_int() < 0));
        case Kind::Double: break;
        default: return machine.no_overload("math.sign", arguments);
    }
    auto real = number.as_double();
    return std::isnan(real) || real == 0 ? number : Cell::real(real > 0 ? 1 : -1);
}

Cell square_root(Machine& machine, Arguments arguments) {
    const auto& number = arguments[0];
    switch (number.kind()) {
        case Kind::Uint: return Cell::real(std::sqrt(static_cast<double>(number.as_uint())));
        case Kind::Int: return Cell::real(std::sqrt(static_cast<double>(number.as_int())));
        case Kind::Double: return Cell::real(std::sqrt(number.as_double()));
        default: return machine.no_overload("math.sqrt", arguments);
    }
}

enum class Nature : std::uint8_t { NaN, Infinite, Finite };

template <Nature nature>
Cell is_of_nature(Machine& machine, Arguments arguments) {
    if (!arguments[0].is(Kind::Double)) {
        return machine.no_overload("math.isNaN/isInf/isFinite", arguments);
    }
    auto number = arguments[0].as_double();
    return Cell::boolean(nature == Nature::NaN        ? std::isnan(number)
                         : nature == Nature::Infinite ? std::isinf(number)
                                                      : std::isfinite(number));
}

/// The bits of an int or uint back as what they were.
Cell with_bits(const Cell& like, std::uint64_t bits) {
    return like.is(Kind::Int) ? Cell::integer(static_cast<std::int64_t>(bits))
                              : Cell::unsigned_integer(bits);
}

bool are_whole(const Cell& left, const Cell& right) {
    return left.kind() == right.kind() && (left.is(Kind::Int) || left.is(Kind::Uint));
}

enum class Bits : std::uint8_t { And, Or, Xor };

template <Bits operation>
Cell combine_bits(Machine& machine, Arguments arguments) {
    if (!are_whole(arguments[0], arguments[1])) {
        return machine.no_overload("math.bitAnd/bitOr/bitXor", arguments);
    }
    auto left = arguments[0].as_uint();
    auto right = arguments[1].as_uint();
    return with_bits(arguments[0], operation == Bits::And  ? left & right
                                   : operation == Bits::Or ? left | right
                                                           : left ^ right);
}

Cell invert_bits(Machine& machine, Arguments arguments) {
    return are_whole(arguments[0], arguments[0]) ? with_bits(arguments[0], ~arguments[0].as_uint())
                                                 : machine.no_overload("math.bitNot", arguments);
}

enum class Direction : std::uint8_t { Left, Right };

template <Direction direction>
Cell shift_bits(Machine& machine, Arguments arguments) {
    if (!are_whole(arguments[0], arguments[0]) || !arguments[1].is(Kind::Int)) {
        return machine.no_overload("math.bitShiftLeft/bitShiftRight", arguments);
    }
    auto distance = arguments[1].as_int();
    if (distance < 0) {
        return machine.fault("overflow", "a shift by {}: expected 0 or more", distance);
    }
    auto bits = arguments[0].as_uint();
    auto shifted = distance >= 64                 ? 0
                   : direction == Direction::Left ? bits << distance
                                                  : bits >> distance;
    return with_bits(arguments[0], shifted);
}

constexpr auto number_kinds =
    static_cast<KindSet>(only(Kind::Int) | only(Kind::Uint) | only(Kind::Double));
constexpr auto whole_kinds = static_cast<KindSet>(only(Kind::Int) | only(Kind::Uint));

constexpr Function math(std::string_view name, std::uint8_t arguments, KindSet result,
                        Implementation implementation) {
    return {name, CallStyle::Global, arguments, arguments, result, implementation};
}

constexpr auto math_table = std::array{
    Function{"math.greatest", CallStyle::Global, 1, many_arguments, number_kinds, greatest},
    Function{"math.least", CallStyle::Global, 1, many_arguments, number_kinds, least},
    math("math.ceil", 1, only(Kind::Double), rounded<std::ceil>),
    math("math.floor", 1, only(Kind::Double), rounded<std::floor>),
    math("math.round", 1, only(Kind::Double), rounded<std::round>),
    math("math.trunc", 1, only(Kind::Double), rounded<std::trunc>),
    math("math.abs", 1, number_kinds, absolute),
    math("math.sign", 1, number_kinds, sign),
    math("math.sqrt", 1, only(Kind::Double), square_root),
    math("math.isNaN", 1, only(Kind::Bool), is_of_nature<Nature::NaN>),
    math("math.isInf", 1, only(Kind::Bool), is_of_nature<Nature::Infinite>),
    math("math.isFinite", 1, only(Kind::Bool), is_of_nature<Nature::Finite>),
    math("math.bitAnd", 2, whole_kinds, combine_bits<Bits::And>),
    math("math.bitOr", 2, whole_kinds, combine_bits<Bits::Or>),
    math("math.bitXor", 2, whole_kinds, combine_bits<Bits::Xor>),
    math("math.bitNot", 1, whole_kinds, invert_bits),
    math("math.bitShiftLeft", 2, whole_kinds, shift_bits<Direction::Left>),
    math("math.bitShiftRight", 2, whole_kinds, shift_bits<Direction::Right>),
};

} // namespace

std::span<const Function> math_functions() {
    return math_table;
}

} // namespace sluice::expr::cel::runtime
