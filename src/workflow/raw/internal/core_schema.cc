#include "workflow/raw/internal/core_schema.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

namespace sluice::workflow::raw::internal {

namespace {

using Resolved = std::expected<Value, std::string>;

template <std::size_t size>
bool is_one_of(std::string_view text, const std::array<std::string_view, size>& words) {
    return std::ranges::find(words, text) != words.end();
}

constexpr auto nulls = std::array<std::string_view, 5>{"", "~", "null", "Null", "NULL"};
constexpr auto trues = std::array<std::string_view, 3>{"true", "True", "TRUE"};
constexpr auto falses = std::array<std::string_view, 3>{"false", "False", "FALSE"};
constexpr auto infinities = std::array<std::string_view, 3>{".inf", ".Inf", ".INF"};
constexpr auto no_numbers = std::array<std::string_view, 3>{".nan", ".NaN", ".NAN"};

bool is_digit(char letter) {
    return letter >= '0' && letter <= '9';
}

std::string_view without_sign(std::string_view text) {
    return text.starts_with('-') || text.starts_with('+') ? text.substr(1) : text;
}

/// Takes the digits at the front away and says how many there were.
std::size_t skip_digits(std::string_view& text) {
    auto count = static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
    text.remove_prefix(count);
    return count;
}

/// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool is_float(std::string_view text) {
    text = without_sign(text);
    auto whole = skip_digits(text);
    auto fraction = std::size_t{0};
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        fraction = skip_digits(text);
    }
    if (whole + fraction == 0) {
        return false;
    }
    if (text.starts_with('e') || text.starts_with('E')) {
        text = without_sign(text.substr(1));
        return skip_digits(text) > 0 && text.empty();
    }
    return text.empty();
}

std::optional<std::uint64_t> read_unsigned(std::string_view digits, int base) {
    auto number = std::uint64_t{0};
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
    if (error != std::errc{} || end != digits.data() + digits.size()) {
        return std::nullopt;
    }
    return number;
}

Resolved read_float(std::string_view text) {
    auto digits = text.starts_with('+') ? text.substr(1) : text;
    auto number = 0.0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc{}) {
        return std::unexpected(
            fmt::format("found {}, expected a number that a double holds", text));
    }
    return Value{number};
}

Value from_unsigned(std::uint64_t number) {
    return number <= INT64_MAX ? Value{static_cast<std::int64_t>(number)} : Value{number};
}

Resolved read_integer(std::string_view text) {
    constexpr auto lowest = std::uint64_t{1} << 63U;
    auto number = read_unsigned(without_sign(text), 10);
    if (number && !text.starts_with('-')) {
        return from_unsigned(*number);
    }
    if (number && *number <= lowest) {
        return Value{static_cast<std::int64_t>(0 - *number)};
    }
    return read_float(text);
}

/// 0o7 and 0xF; nothing when it is neither.
std::optional<Resolved> read_based(std::string_view text) {
    auto base = text.starts_with("0x") ? 16 : text.starts_with("0o") ? 8 : 0;
    if (base == 0 || text.size() == 2) {
        return std::nullopt;
    }
    auto is_digit_of_base = [base](char letter) {
        return base == 8 ? letter >= '0' && letter <= '7'
                         : is_digit(letter) || (letter >= 'a' && letter <= 'f') ||
                               (letter >= 'A' && letter <= 'F');
    };
    auto digits = text.substr(2);
    if (!std::ranges::all_of(digits, is_digit_of_base)) {
        return std::nullopt;
    }
    auto number = read_unsigned(digits, base);
    if (!number) {
        return std::unexpected(fmt::format("found {}, expected at most 64 bits", text));
    }
    return from_unsigned(*number);
}

} // namespace

Resolved resolve_plain(std::string_view text) {
    if (is_one_of(text, nulls)) {
        return Value{};
    }
    if (is_one_of(text, trues) || is_one_of(text, falses)) {
        return Value{is_one_of(text, trues)};
    }
    if (is_one_of(without_sign(text), infinities) || is_one_of(text, no_numbers)) {
        return std::unexpected(fmt::format("found {}, expected a finite number", text));
    }
    if (auto based = read_based(text)) {
        return *std::move(based);
    }
    auto digits = without_sign(text);
    if (!digits.empty() && std::ranges::all_of(digits, is_digit)) {
        return read_integer(text);
    }
    return is_float(text) ? read_float(text) : Resolved{Value{text}};
}

} // namespace sluice::workflow::raw::internal
