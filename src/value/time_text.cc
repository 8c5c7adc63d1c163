#include "value/time_text.h"

#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "value/internal/scanner.h"

namespace sluice::value {

namespace {

__extension__ using Wide = __int128;

constexpr auto second_nanos = std::int64_t{1'000'000'000};
constexpr auto day_seconds = std::int64_t{86'400};
/// Of what was refused, in the message.
constexpr auto shown_bytes_max = std::size_t{64};

bool fits_64_bits(Wide nanos) {
    return nanos >= std::numeric_limits<std::int64_t>::min() &&
           nanos <= std::numeric_limits<std::int64_t>::max();
}

// The digits behind the point as a part of `whole`; what is smaller than one is cut off.
std::int64_t fraction_of(std::string_view digits, std::int64_t whole) {
    auto sum = std::int64_t{0};
    auto scale = std::int64_t{1};
    // So many never exceed 64 bits; what lies behind them is less than a nanosecond of a day.
    constexpr auto digits_max = std::size_t{18};
    for (auto digit : digits.substr(0, digits_max)) {
        sum = sum * 10 + (digit - '0');
        scale *= 10;
    }
    return static_cast<std::int64_t>(Wide{sum} * whole / scale);
}

std::int64_t read_date(Scanner& text) {
    auto year = text.number(4, 1, 9999);
    text.expect_any_of("-");
    auto month = text.number(2, 1, 12);
    text.expect_any_of("-");
    auto day = text.number(2, 1, 31);
    auto date = std::chrono::year{year} / month / day;
    if (!text.is_good() || !date.ok()) {
        text.refuse();
        return 0;
    }
    return std::chrono::sys_days{date}.time_since_epoch().count() * day_seconds;
}

std::int64_t read_minutes(Scanner& text) {
    auto hours = text.number(2, 0, 23);
    text.expect_any_of(":");
    return std::int64_t{hours} * 60 + text.number(2, 0, 59);
}

std::int64_t read_offset_seconds(Scanner& text) {
    if (text.take_any_of("Zz")) {
        return 0;
    }
    auto is_west = text.take_any_of("-");
    if (!is_west) {
        text.expect_any_of("+");
    }
    auto seconds = read_minutes(text) * 60;
    return is_west ? -seconds : seconds;
}

/// As many as there is room for, with zeros before them. Every event has a time: a formatting
/// library would take a good part of what making one costs.
void put_digits(std::int64_t number, std::span<char> room) {
    for (auto at = room.size(); at-- > 0; number /= 10) {
        room[at] = static_cast<char>('0' + number % 10);
    }
}

std::unexpected<Error> not_a_time(std::string_view text) {
    return fail(Errc::InvalidInput, "'{}' is no RFC 3339 time such as 2026-11-15T05:57:30Z",
                text.substr(0, shown_bytes_max));
}

struct Unit {
    std::string_view name;
    std::int64_t nanos;
};

/// Largest first.
constexpr auto units = std::to_array<Unit>({
    {"d", day_seconds* second_nanos},
    {"h", 3'600 * second_nanos},
    {"m", 60 * second_nanos},
    {"s", second_nanos},
    {"ms", 1'000'000},
    {"us", 1'000},
    {"ns", 1},
});

std::int64_t nanos_of_unit(std::string_view name) {
    const auto* unit = std::ranges::find(units, name, &Unit::name);
    return unit == units.end() ? 0 : unit->nanos;
}

// Beyond 64 bits it stays there: the caller refuses such a sum, however many digits it had.
Wide number_of(std::string_view digits) {
    auto number = Wide{0};
    for (auto digit : digits) {
        number = number * 10 + (digit - '0');
        if (!fits_64_bits(number)) {
            break;
        }
    }
    return number;
}

// One number with its unit. Fails through the scanner.
Wide read_part(Scanner& text) {
    auto whole = text.digits();
    auto fraction = text.take_any_of(".") ? text.digits() : std::string_view{};
    auto unit = nanos_of_unit(text.lower_case_word());
    if (unit == 0) {
        text.refuse();
        return 0;
    }
    return number_of(whole) * unit + fraction_of(fraction, unit);
}

} // namespace

Result<Time> parse_time(std::string_view text) {
    auto scanner = Scanner{text};
    auto seconds = read_date(scanner);
    scanner.expect_any_of("Tt");
    seconds += read_minutes(scanner) * 60;
    scanner.expect_any_of(":");
    auto second = scanner.number(2, 0, 60);
    auto fraction = scanner.take_any_of(".") ? fraction_of(scanner.digits(), second_nanos) : 0;
    seconds += second - read_offset_seconds(scanner);
    if (!scanner.is_good() || !scanner.is_at_end()) {
        return not_a_time(text);
    }
    // RFC 3339, 5.7: a leap second is the last of a day in UTC, so the next one begins a day.
    if (second == 60 && seconds % day_seconds != 0) {
        return not_a_time(text);
    }
    auto nanos = Wide{seconds} * second_nanos + fraction;
    if (!fits_64_bits(nanos)) {
        return fail(Errc::InvalidInput, "the time {} is out of range: expected 1678 to 2261",
                    text.substr(0, shown_bytes_max));
    }
    return Time{Nanos{static_cast<std::int64_t>(nanos)}};
}

std::string format_time(Time time) {
    auto count = time.time_since_epoch().count();
    auto fraction = (count % second_nanos + second_nanos) % second_nanos;
    auto seconds = count / second_nanos - (count % second_nanos < 0 ? 1 : 0);
    auto second_of_day = (seconds % day_seconds + day_seconds) % day_seconds;
    auto days = std::chrono::days{(seconds - second_of_day) / day_seconds};
    auto date = std::chrono::year_month_day{std::chrono::sys_days{days}};
    auto text = std::string{"0000-00-00T00:00:00.000000000Z"};
    put_digits(static_cast<int>(date.year()), {&text[0], 4});
    put_digits(static_cast<unsigned>(date.month()), {&text[5], 2});
    put_digits(static_cast<unsigned>(date.day()), {&text[8], 2});
    put_digits(second_of_day / 3600, {&text[11], 2});
    put_digits(second_of_day / 60 % 60, {&text[14], 2});
    put_digits(second_of_day % 60, {&text[17], 2});
    put_digits(fraction, {&text[20], 9});
    auto last = fraction == 0 ? std::size_t{18} : text.find_last_not_of('0', 28);
    text.replace(last + 1, std::string::npos, "Z");
    return text;
}

Result<Nanos> parse_duration(std::string_view text) {
    auto scanner = Scanner{text};
    auto is_negative = scanner.take_any_of("-");
    if (!is_negative) {
        scanner.take_any_of("+");
    }
    if (scanner.rest() == "0") {
        return Nanos{0};
    }
    auto sum = Wide{0};
    do {
        sum += read_part(scanner);
    } while (scanner.is_good() && !scanner.is_at_end() && fits_64_bits(-sum));
    if (!scanner.is_good()) {
        return fail(Errc::InvalidInput, "'{}' is no duration such as 1h30m or 250ms",
                    text.substr(0, shown_bytes_max));
    }
    sum = is_negative ? -sum : sum;
    if (!fits_64_bits(sum)) {
        return fail(Errc::InvalidInput, "the duration {} is out of range: expected under 292 years",
                    text.substr(0, shown_bytes_max));
    }
    return Nanos{static_cast<std::int64_t>(sum)};
}

std::string format_duration(Nanos duration) {
    auto count = duration.count();
    if (count == 0) {
        return "0s";
    }
    auto text = std::string{count < 0 ? "-" : ""};
    // Unsigned, because the smallest number has no positive counterpart.
    auto left =
        count < 0 ? 0 - static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count);
    for (const auto& unit : units) {
        auto nanos = static_cast<std::uint64_t>(unit.nanos);
        if (left >= nanos) {
            text += fmt::format("{}{}", left / nanos, unit.name);
            left %= nanos;
        }
    }
    return text;
}

} // namespace sluice::value
