#include "expr/cel/internal/conversion.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>

#include "base/utf8.h"
#include "expr/cel/internal/excerpt.h"
#include "expr/cel/internal/fault.h"
#include "expr/cel/internal/number_text.h"
#include "value/time_text.h"

namespace sluice::expr::cel::internal {
namespace {

using value::Kind;

Outcome no_overload(std::string_view function, const Value& operand) {
    return fault("no_such_overload", "there is no {}({})", function, to_string(operand.kind()));
}

Outcome unreadable(std::string_view function, std::string_view text) {
    return fault("bad_conversion", "{}() cannot read \"{}\"", function, excerpt(text));
}

Outcome out_of_range(std::string_view function) {
    return fault("overflow", "the number is out of the range of {}", function);
}

std::string write_double(double number) {
    if (std::isnan(number)) {
        return "NaN";
    }
    if (std::isinf(number)) {
        return number > 0 ? "Infinity" : "-Infinity";
    }
    return fmt::format("{}", number);
}

/// In seconds, as "60.001s".
std::string write_duration(Nanos duration) {
    auto count = duration.count();
    auto size =
        count < 0 ? 0 - static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count);
    auto text =
        fmt::format("{}{}.{:09}", count < 0 ? "-" : "", size / 1'000'000'000, size % 1'000'000'000);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) {
        text.pop_back();
    }
    return text + "s";
}

Outcome to_text(const Value& operand) {
    switch (operand.kind()) {
        case Kind::Bool: return Value{operand.as_bool() ? "true" : "false"};
        case Kind::Int: return Value{std::to_string(operand.as_int())};
        case Kind::Uint: return Value{std::to_string(operand.as_uint())};
        case Kind::Double: return Value{write_double(operand.as_double())};
        case Kind::String: return operand;
        case Kind::Timestamp: return Value{value::format_time(operand.as_timestamp())};
        case Kind::Duration: return Value{write_duration(operand.as_duration())};
        case Kind::Bytes: break;
        default: return no_overload("string", operand);
    }
    auto bytes = operand.as_bytes();
    if (valid_utf8_prefix(bytes) != bytes.size()) {
        return fault("bad_conversion", "string() expects bytes that are UTF-8");
    }
    return Value{bytes};
}

std::string_view without_plus(std::string_view text) {
    auto is_signed_twice = text.starts_with("+-") || text.starts_with("++");
    return text.starts_with('+') && !is_signed_twice ? text.substr(1) : text;
}

template <typename Integer>
Outcome integer_from_text(std::string_view function, std::string_view text) {
    auto number = Integer{0};
    auto digits = without_plus(text);
    auto end = digits.data() + digits.size();
    auto result = std::from_chars(digits.data(), end, number);
    if (result.ptr != end || result.ec == std::errc::invalid_argument) {
        return unreadable(function, text);
    }
    if (result.ec == std::errc::result_out_of_range) {
        return out_of_range(function);
    }
    return Value{number};
}

Outcome to_int(const Value& operand) {
    switch (operand.kind()) {
        case Kind::Int: return operand;
        case Kind::Uint:
            return std::in_range<std::int64_t>(operand.as_uint())
                       ? Outcome{Value{static_cast<std::int64_t>(operand.as_uint())}}
                       : out_of_range("int");
        case Kind::Double:
            // Both ends are excluded: -2^63 may stand for what was below it.
            return operand.as_double() > -0x1p63 && operand.as_double() < 0x1p63
                       ? Outcome{Value{static_cast<std::int64_t>(operand.as_double())}}
                       : out_of_range("int");
        case Kind::String: return integer_from_text<std::int64_t>("int", operand.as_string());
        case Kind::Timestamp:
            return Value{
                std::int64_t{std::chrono::floor<std::chrono::seconds>(operand.as_timestamp())
                                 .time_since_epoch()
                                 .count()}};
        default: return no_overload("int", operand);
    }
}

Outcome to_uint(const Value& operand) {
    switch (operand.kind()) {
        case Kind::Uint: return operand;
        case Kind::Int:
            return operand.as_int() >= 0
                       ? Outcome{Value{static_cast<std::uint64_t>(operand.as_int())}}
                       : out_of_range("uint");
        case Kind::Double:
            return operand.as_double() >= 0 && operand.as_double() < 0x1p64
                       ? Outcome{Value{static_cast<std::uint64_t>(operand.as_double())}}
                       : out_of_range("uint");
        case Kind::String: return integer_from_text<std::uint64_t>("uint", operand.as_string());
        default: return no_overload("uint", operand);
    }
}

Outcome double_from_text(std::string_view text) {
    auto number = read_double(without_plus(text));
    return number ? Outcome{Value{*number}} : unreadable("double", text);
}

Outcome to_double(const Value& operand) {
    switch (operand.kind()) {
        case Kind::Double: return operand;
        case Kind::Int: return Value{static_cast<double>(operand.as_int())};
        case Kind::Uint: return Value{static_cast<double>(operand.as_uint())};
        case Kind::String: return double_from_text(operand.as_string());
        default: return no_overload("double", operand);
    }
}

Outcome to_bool(const Value& operand) {
    if (operand.is_bool()) {
        return operand;
    }
    if (!operand.is_string()) {
        return no_overload("bool", operand);
    }
    constexpr auto yes = std::array<std::string_view, 6>{"1", "t", "T", "true", "TRUE", "True"};
    constexpr auto no = std::array<std::string_view, 6>{"0", "f", "F", "false", "FALSE", "False"};
    auto text = operand.as_string();
    if (std::ranges::find(yes, text) != yes.end()) {
        return Value{true};
    }
    if (std::ranges::find(no, text) != no.end()) {
        return Value{false};
    }
    return unreadable("bool", text);
}

} // namespace

Outcome convert(Op op, const Value& operand) {
    switch (op) {
        case Op::ToString: return to_text(operand);
        case Op::ToInt: return to_int(operand);
        case Op::ToUint: return to_uint(operand);
        case Op::ToDouble: return to_double(operand);
        default: return to_bool(operand);
    }
}

} // namespace sluice::expr::cel::internal
