#include "expr/cel/runtime/conversion.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/utf8.h"
#include "expr/cel/runtime/arithmetic.h"
#include "expr/cel/runtime/excerpt.h"
#include "expr/cel/runtime/moment.h"
#include "expr/cel/runtime/real_text.h"
#include "expr/cel/runtime/text_of.h"

namespace sluice::expr::cel::runtime {
namespace {

Cell unreadable(Machine& machine, std::string_view function, std::string_view text) {
    return machine.fault("bad_conversion", "{}() cannot read \"{}\"", function, excerpt(text));
}

Cell too_large(Machine& machine, std::string_view function) {
    return machine.fault("overflow", "the number is out of the range of {}", function);
}

std::string_view without_plus(std::string_view text) {
    auto is_signed_twice = text.starts_with("+-") || text.starts_with("++");
    return text.starts_with('+') && !is_signed_twice ? text.substr(1) : text;
}

template <typename Integer>
Cell integer_from_text(Machine& machine, std::string_view function, std::string_view text) {
    auto number = Integer{0};
    auto digits = without_plus(text);
    auto end = digits.data() + digits.size();
    auto result = std::from_chars(digits.data(), end, number);
    if (result.ptr != end || result.ec == std::errc::invalid_argument) {
        return unreadable(machine, function, text);
    }
    if (result.ec == std::errc::result_out_of_range) {
        return too_large(machine, function);
    }
    if constexpr (std::is_signed_v<Integer>) {
        return Cell::integer(number);
    } else {
        return Cell::unsigned_integer(number);
    }
}

} // namespace

Cell to_text(Machine& machine, Arguments arguments) {
    const auto& operand = arguments[0];
    switch (operand.kind()) {
        case Kind::String: return operand;
        case Kind::Null:
        case Kind::List:
        case Kind::Map:
        case Kind::Optional:
        case Kind::Type: return machine.no_overload("string", arguments);
        case Kind::Bytes: break;
        default: return machine.text(text_of(operand));
    }
    machine.meter().spend_text(operand.size());
    return is_utf8(operand.text())
               ? Cell::string(operand.text())
               : machine.fault("bad_conversion", "string() expects bytes that are UTF-8");
}

Cell to_bytes(Machine& machine, Arguments arguments) {
    const auto& operand = arguments[0];
    return operand.is(Kind::String)  ? Cell::bytes(operand.text())
           : operand.is(Kind::Bytes) ? operand
                                     : machine.no_overload("bytes", arguments);
}

Cell to_int(Machine& machine, Arguments arguments) {
    const auto& operand = arguments[0];
    switch (operand.kind()) {
        case Kind::Int: return operand;
        case Kind::Uint:
            return std::in_range<std::int64_t>(operand.as_uint())
                       ? Cell::integer(static_cast<std::int64_t>(operand.as_uint()))
                       : too_large(machine, "int");
        case Kind::Double:
            // Both ends are excluded: -2^63 may stand for what was below it.
            return operand.as_double() > -0x1p63 && operand.as_double() < 0x1p63
                       ? Cell::integer(static_cast<std::int64_t>(operand.as_double()))
                       : too_large(machine, "int");
        case Kind::String: return integer_from_text<std::int64_t>(machine, "int", operand.text());
        case Kind::Timestamp: return Cell::integer(operand.as_timestamp().seconds);
        default: return machine.no_overload("int", arguments);
    }
}

Cell to_uint(Machine& machine, Arguments arguments) {
    const auto& operand = arguments[0];
    switch (operand.kind()) {
        case Kind::Uint: return operand;
        case Kind::Int:
            return operand.as_int() >= 0
                       ? Cell::unsigned_integer(static_cast<std::uint64_t>(operand.as_int()))
                       : too_large(machine, "uint");
        case Kind::Double:
            return operand.as_double() >= 0 && operand.as_double() < 0x1p64
                       ? Cell::unsigned_integer(static_cast<std::uint64_t>(operand.as_double()))
                       : too_large(machine, "uint");
        case Kind::String: return integer_from_text<std::uint64_t>(machine, "uint", operand.text());
        default: return machine.no_overload("uint", arguments);
    }
}

Cell to_double(Machine& machine, Arguments arguments) {
    const auto& operand = arguments[0];
    switch (operand.kind()) {
        case Kind::Double: return operand;
        case Kind::Int: return Cell::real(static_cast<double>(operand.as_int()));
        case Kind::Uint: return Cell::real(static_cast<double>(operand.as_uint()));
        case Kind::String: break;
        default: return machine.no_overload("double", arguments);
    }
    auto number = read_double(without_plus(operand.text()));
    return number ? Cell::real(*number) : unreadable(machine, "double", operand.text());
}

Cell to_bool(Machine& machine, Arguments arguments) {
    const auto& operand = arguments[0];
    if (operand.is(Kind::Bool)) {
        return operand;
    }
    if (!operand.is(Kind::String)) {
        return machine.no_overload("bool", arguments);
    }
    constexpr auto yes = std::array<std::string_view, 6>{"1", "t", "T", "true", "TRUE", "True"};
    constexpr auto no = std::array<std::string_view, 6>{"0", "f", "F", "false", "FALSE", "False"};
    auto text = operand.text();
    if (std::ranges::find(yes, text) != yes.end()) {
        return Cell::boolean(true);
    }
    if (std::ranges::find(no, text) != no.end()) {
        return Cell::boolean(false);
    }
    return unreadable(machine, "bool", text);
}

Cell to_timestamp(Machine& machine, Arguments arguments) {
    const auto& operand = arguments[0];
    switch (operand.kind()) {
        case Kind::Timestamp: return operand;
        case Kind::Int:
            return is_in_range({operand.as_int(), 0}) ? Cell::timestamp({operand.as_int(), 0})
                                                      : too_large(machine, "timestamp");
        case Kind::String: break;
        default: return machine.no_overload("timestamp", arguments);
    }
    auto moment = read_timestamp(operand.text());
    return moment ? Cell::timestamp(*moment) : unreadable(machine, "timestamp", operand.text());
}

Cell to_duration(Machine& machine, Arguments arguments) {
    const auto& operand = arguments[0];
    switch (operand.kind()) {
        case Kind::Duration: return operand;
        case Kind::String: break;
        default: return machine.no_overload("duration", arguments);
    }
    auto nanos = read_duration(operand.text());
    return nanos ? Cell::duration(*nanos) : unreadable(machine, "duration", operand.text());
}

Cell to_type(Machine& /*machine*/, Arguments arguments) {
    return Cell::type(arguments[0].kind());
}

Cell to_dyn(Machine& /*machine*/, Arguments arguments) {
    return arguments[0];
}

} // namespace sluice::expr::cel::runtime
