#include "expr/cesql/internal/function.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <clocale>
#include <cstdlib>
#include <cwctype>
#include <limits>

#include <locale.h>

#include "base/utf8.h"

namespace sluice::expr::cesql::internal {
namespace {

using value::Kind;

constexpr auto any_number = std::numeric_limits<std::size_t>::max();
constexpr auto int_min = std::numeric_limits<std::int32_t>::min();
constexpr auto int_max = std::numeric_limits<std::int32_t>::max();

std::int64_t length_of(std::string_view text) {
    return std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

/// The byte at which so many characters are over.
std::size_t bytes_of(std::string_view text, std::int64_t characters) {
    auto at = std::size_t{0};
    while (at < text.size() && characters > 0) {
        at += std::max<std::size_t>(decode_utf8(text.substr(at)).size, 1);
        --characters;
    }
    return at;
}

Reply objection(Value value, std::string message) {
    return {std::move(value), "functionEvaluation", std::move(message)};
}

/// Case by Unicode, whatever the process's locale.
std::string with_case(std::string_view text, wint_t (*change)(wint_t, locale_t)) {
    static const auto unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    auto out = std::string{};
    while (!text.empty()) {
        auto [code, size] = decode_utf8(text);
        if (size == 0 || unicode == nullptr) {
            out += text.front();
            text.remove_prefix(1);
            continue;
        }
        append_utf8(change(code, unicode), out);
        text.remove_prefix(size);
    }
    return out;
}

Reply length(std::span<const Value> arguments) {
    return {Value{length_of(arguments[0].as_string())}, nullptr, {}};
}

Reply concat(std::span<const Value> arguments) {
    auto out = std::string{};
    for (const auto& argument : arguments) {
        out += argument.as_string();
    }
    return {Value{out}, nullptr, {}};
}

Reply concat_ws(std::span<const Value> arguments) {
    auto out = std::string{};
    for (auto at = std::size_t{1}; at < arguments.size(); ++at) {
        out += at > 1 ? arguments[0].as_string() : "";
        out += arguments[at].as_string();
    }
    return {Value{out}, nullptr, {}};
}

Reply lower(std::span<const Value> arguments) {
    return {Value{with_case(arguments[0].as_string(), towlower_l)}, nullptr, {}};
}

Reply upper(std::span<const Value> arguments) {
    return {Value{with_case(arguments[0].as_string(), towupper_l)}, nullptr, {}};
}

Reply trim(std::span<const Value> arguments) {
    constexpr auto blanks = std::string_view{" \t\n\v\f\r"};
    auto text = arguments[0].as_string();
    auto begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) {
        return {Value{""}, nullptr, {}};
    }
    return {Value{text.substr(begin, text.find_last_not_of(blanks) + 1 - begin)}, nullptr, {}};
}

Reply left(std::span<const Value> arguments) {
    auto text = arguments[0].as_string();
    if (arguments[1].as_int() < 0) {
        return objection(arguments[0], "LEFT: expected a length of 0 or more");
    }
    return {Value{text.substr(0, bytes_of(text, arguments[1].as_int()))}, nullptr, {}};
}

Reply right(std::span<const Value> arguments) {
    auto text = arguments[0].as_string();
    if (arguments[1].as_int() < 0) {
        return objection(arguments[0], "RIGHT: expected a length of 0 or more");
    }
    auto skipped = length_of(text) - arguments[1].as_int();
    return {Value{text.substr(bytes_of(text, skipped))}, nullptr, {}};
}

Reply substring(std::span<const Value> arguments) {
    auto text = arguments[0].as_string();
    auto position = arguments[1].as_int();
    auto size = length_of(text);
    if (arguments.size() > 2 && arguments[2].as_int() < 0) {
        return objection(Value{""}, "SUBSTRING: expected a length of 0 or more");
    }
    if (position == 0) {
        return {Value{""}, nullptr, {}};
    }
    if (position > size || position < -size) {
        return objection(Value{""}, "SUBSTRING: expected a position within the text");
    }
    auto rest = text.substr(bytes_of(text, position > 0 ? position - 1 : size + position));
    if (arguments.size() > 2) {
        rest = rest.substr(0, bytes_of(rest, arguments[2].as_int()));
    }
    return {Value{rest}, nullptr, {}};
}

Reply absolute(std::span<const Value> arguments) {
    auto number = arguments[0].as_int();
    if (number == int_min) {
        return {Value{int_max}, "math", "ABS: the result is not within 32 bits"};
    }
    return {Value{std::abs(number)}, nullptr, {}};
}

/// INT, BOOL and STRING: casting the argument is all there is to do.
Reply itself(std::span<const Value> arguments) {
    return {arguments[0], nullptr, {}};
}

constexpr auto functions = std::to_array<Function>({
    {"LENGTH", 1, 1, Kind::Int, Kind::String, Kind::String, length},
    {"CONCAT", 0, any_number, Kind::String, Kind::String, Kind::String, concat},
    {"CONCAT_WS", 1, any_number, Kind::String, Kind::String, Kind::String, concat_ws},
    {"LOWER", 1, 1, Kind::String, Kind::String, Kind::String, lower},
    {"UPPER", 1, 1, Kind::String, Kind::String, Kind::String, upper},
    {"TRIM", 1, 1, Kind::String, Kind::String, Kind::String, trim},
    {"LEFT", 2, 2, Kind::String, Kind::String, Kind::Int, left},
    {"RIGHT", 2, 2, Kind::String, Kind::String, Kind::Int, right},
    {"SUBSTRING", 2, 3, Kind::String, Kind::String, Kind::Int, substring},
    {"ABS", 1, 1, Kind::Int, Kind::Int, Kind::Int, absolute},
    {"INT", 1, 1, Kind::Int, Kind::Int, Kind::Int, itself},
    {"BOOL", 1, 1, Kind::Bool, Kind::Bool, Kind::Bool, itself},
    {"STRING", 1, 1, Kind::String, Kind::String, Kind::String, itself},
});

std::optional<Value> to_integer(std::string_view text) {
    auto digits = text.starts_with('+') ? text.substr(1) : text;
    auto number = std::int32_t{0};
    auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    auto is_whole = read.ec == std::errc{} && read.ptr == digits.data() + digits.size();
    auto has_two_signs = text.starts_with("+-");
    return is_whole && !has_two_signs ? std::optional{Value{number}} : std::nullopt;
}

std::optional<Value> to_boolean(std::string_view text) {
    auto is = [&](std::string_view wanted) {
        return std::ranges::equal(text, wanted, [](char a, char b) {
            return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b;
        });
    };
    return is("true") || is("false") ? std::optional{Value{is("true")}} : std::nullopt;
}

} // namespace

const Function* find_function(std::string_view name, std::size_t arguments) {
    const auto* found = std::ranges::find_if(functions, [&](const Function& function) {
        return function.name == name && arguments >= function.arguments_min &&
               arguments <= function.arguments_max;
    });
    return found != functions.end() ? found : nullptr;
}

std::optional<Value> cast(const Value& value, Kind kind) {
    if (value.kind() == kind) {
        return value;
    }
    switch (kind) {
        case Kind::Int:
            return value.is_bool() ? Value{value.as_bool() ? 1 : 0} : to_integer(value.as_string());
        case Kind::Bool:
            return value.is_int() ? Value{value.as_int() != 0} : to_boolean(value.as_string());
        default:
            return value.is_bool() ? Value{value.as_bool() ? "true" : "false"}
                                   : Value{std::to_string(value.as_int())};
    }
}

Value zero_of(Kind kind) {
    switch (kind) {
        case Kind::Int: return Value{0};
        case Kind::Bool: return Value{false};
        default: return Value{""};
    }
}

} // namespace sluice::expr::cesql::internal
