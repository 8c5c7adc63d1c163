#include "expr/jsonata/internal/time_picture.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "expr/jsonata/internal/letter_case.h"
#include "expr/jsonata/internal/raise.h"
#include "expr/jsonata/internal/text.h"

namespace sluice::expr::jsonata::internal {

const std::vector<std::string_view> month_names = {"January",   "February", "March",    "April",
                                                   "May",       "June",     "July",     "August",
                                                   "September", "October",  "November", "December"};
const std::vector<std::string_view> day_names = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                 "Friday", "Saturday", "Sunday"};

namespace {

using std::chrono::days;
using std::chrono::milliseconds;
using std::chrono::months;
using std::chrono::sys_days;
using std::chrono::year_month;
using std::chrono::years;

constexpr auto integer_components = std::string_view{"YMDdFWwXxHhmsf"};

/// What a marker without one means; empty for a component that is none.
std::string_view default_presentation(char component) {
    switch (component) {
        case 'F':
        case 'P':
        case 'C':
        case 'E': return "n";
        case 'm':
        case 's': return "01";
        case 'Z':
        case 'z': return "01:01";
        default: return integer_components.contains(component) ? "1" : "";
    }
}

std::optional<std::size_t> width_of(std::string_view text) {
    if (text.empty() || text[0] < '0' || text[0] > '9') {
        return std::nullopt;
    }
    constexpr std::size_t width_max = 1000;
    return std::min<std::size_t>(std::strtoul(std::string{text}.c_str(), nullptr, 10), width_max);
}

void set_integer(TimePicture::Part& part, const std::string& pattern,
                 std::optional<std::size_t> width_min) {
    auto& integer = part.integer.emplace(IntegerPicture::parse(pattern));
    integer.digits_min = std::max(integer.digits_min, width_min.value_or(0));
    if (!std::string_view{"YMD"}.contains(part.component)) {
        return;
    }
    if (part.width_max) {
        part.year_digits = static_cast<int>(*part.width_max);
        integer.digits_min = *part.width_max;
    } else if (integer.digits_min + integer.digits_optional >= 2) {
        part.year_digits = static_cast<int>(integer.digits_min + integer.digits_optional);
    }
}

TimePicture::Part parse_marker(std::string_view text) {
    auto marker = std::string{text};
    std::erase_if(marker, [](char c) { return std::string_view{" \t\n\r\v\f"}.contains(c); });
    auto part = TimePicture::Part{.component = marker.empty() ? '?' : marker[0]};
    auto presentation = marker.empty() ? marker : marker.substr(1);
    auto width_min = std::optional<std::size_t>{};
    if (auto comma = presentation.rfind(','); comma != presentation.npos) {
        auto width = presentation.substr(comma + 1);
        auto dash = width.find('-');
        width_min = width_of(width.substr(0, dash));
        part.width_max = dash == width.npos ? std::nullopt : width_of(width.substr(dash + 1));
        presentation.resize(comma);
    }
    auto modifier = std::string{};
    if (presentation.size() > 1 && std::string_view{"atco"}.contains(presentation.back())) {
        modifier = presentation.back();
        presentation.pop_back();
    }
    if (default_presentation(part.component).empty()) {
        raise("D3132", "unknown component specifier \"{}\" in date/time picture string",
              part.component);
    }
    if (presentation.empty()) {
        presentation = default_presentation(part.component);
    }
    part.is_traditional = modifier == "t";
    if (presentation[0] == 'n' || presentation[0] == 'N') {
        part.has_names = true;
        part.letter_case = presentation[0] == 'n'        ? LetterCase::Lower
                           : presentation.starts_with("Nn") ? LetterCase::Title
                                                            : LetterCase::Upper;
    } else if (part.component == 'Z' || part.component == 'z') {
        part.integer = IntegerPicture::parse(presentation);
    } else if (integer_components.contains(part.component)) {
        set_integer(part, presentation + (modifier.empty() ? "" : ";" + modifier), width_min);
    }
    return part;
}

sys_days start_of_first_week(year_month month) {
    auto first = sys_days{month / 1};
    auto day = std::chrono::weekday{first}.iso_encoding();
    // The first week has the first Thursday.
    return day > 4 ? first + days{8 - day} : first - days{day - 1};
}

/// The week of a day in a year or month, whose own length is `unit`, and where that begins.
template <typename Unit>
struct WeekPlace {
    year_month begin;
    std::int64_t week = 1;

    WeekPlace(sys_days day, year_month from, Unit unit) : begin{from} {
        if (day < start_of_first_week(from)) {
            begin = from - unit;
        } else if (day >= start_of_first_week(from + unit)) {
            begin = from + unit;
        }
        week = (day - start_of_first_week(begin)).count() / 7 + 1;
    }
};

std::string name_of(const TimePicture::Part& part, std::int64_t value) {
    if (part.component == 'P') {
        return value == 0 ? "am" : "pm";
    }
    auto at = static_cast<std::size_t>(value - 1);
    if (part.component == 'M' || part.component == 'x') {
        return std::string{month_names[at]};
    }
    if (part.component == 'F') {
        return std::string{day_names[at]};
    }
    raise("D3133",
          "the 'name' modifier can only be applied to months and days in the date/time picture "
          "string, not {}",
          part.component);
}

std::string format_name(const TimePicture::Part& part, std::int64_t value) {
    auto name = name_of(part, value);
    name = part.letter_case == LetterCase::Upper   ? upper_text(name)
           : part.letter_case == LetterCase::Lower ? lower_text(name)
                                                   : name;
    return part.width_max ? name.substr(0, *part.width_max) : name;
}

std::string format_zone(const TimePicture::Part& part, int offset_minutes) {
    if (offset_minutes == 0 && part.is_traditional) {
        return "Z";
    }
    const auto picture = part.integer.value_or(IntegerPicture::parse("01:01"));
    auto hours = std::abs(offset_minutes) / 60;
    auto minutes = std::abs(offset_minutes) % 60;
    auto text = std::string{};
    if (picture.distance > 0 || picture.digits_min == 3 || picture.digits_min == 4) {
        text = format_integer(100.0 * hours + minutes, picture);
    } else if (picture.digits_min == 1 || picture.digits_min == 2) {
        text = format_integer(hours, picture);
        text += minutes != 0 ? fmt::format(":{:02}", minutes) : "";
    } else {
        raise("D3134", "the timezone integer format specifier cannot have more than four digits");
    }
    return (part.component == 'z' ? "GMT" : "") + std::string{offset_minutes < 0 ? "-" : "+"} + text;
}

std::string format_part(const TimePicture::Part& part, std::int64_t millis, int offset_minutes) {
    switch (part.component) {
        case 0: return part.literal;
        case 'Z':
        case 'z': return format_zone(part, offset_minutes);
        case 'C':
        case 'E': return "ISO";
        default: break;
    }
    auto value = component_of(millis, part.component);
    if (part.has_names || part.component == 'P') {
        return format_name(part, value);
    }
    if (part.component == 'Y' && part.year_digits && *part.year_digits < 15) {
        value %= static_cast<std::int64_t>(std::pow(10, *part.year_digits));
    }
    return format_integer(static_cast<double>(value), *part.integer);
}

} // namespace

TimePicture TimePicture::parse(std::string_view text) {
    auto picture = TimePicture{};
    auto literal = std::string{};
    auto end_literal = [&] {
        if (!literal.empty()) {
            picture.parts.push_back({.literal = std::exchange(literal, {})});
        }
    };
    for (auto at = std::size_t{0}; at < text.size(); ++at) {
        auto is_doubled = at + 1 < text.size() && text[at + 1] == text[at];
        if (text[at] != '[' || is_doubled) {
            literal += text[at];
            at += is_doubled && (text[at] == '[' || text[at] == ']') ? 1 : 0;
            continue;
        }
        auto end = text.find(']', at);
        if (end == text.npos) {
            raise("D3135", "no matching closing bracket ']' in date/time picture string");
        }
        end_literal();
        auto part = parse_marker(text.substr(at + 1, end - at - 1));
        // Numbers side by side can only be told apart by their widths.
        auto is_number = part.integer && integer_components.contains(part.component);
        if (is_number && !picture.parts.empty() && picture.parts.back().integer) {
            auto& before = *picture.parts.back().integer;
            before.parse_width = before.digits_min;
        }
        picture.parts.push_back(std::move(part));
        at = end;
    }
    end_literal();
    return picture;
}

const TimePicture& TimePicture::iso8601() {
    static const auto picture = parse("[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01].[f001][Z01:01t]");
    return picture;
}

std::int64_t component_of(std::int64_t millis, char component) {
    auto time = std::chrono::sys_time<milliseconds>{milliseconds{millis}};
    auto day = std::chrono::floor<days>(time);
    auto date = std::chrono::year_month_day{day};
    auto clock = std::chrono::hh_mm_ss{time - day};
    auto this_year = date.year() / std::chrono::January;
    auto this_month = date.year() / date.month();
    switch (component) {
        case 'Y': return static_cast<int>(date.year());
        case 'M': return static_cast<unsigned>(date.month());
        case 'D': return static_cast<unsigned>(date.day());
        case 'd': return (day - sys_days{this_year / 1}).count() + 1;
        case 'F': return std::chrono::weekday{day}.iso_encoding();
        case 'W': return WeekPlace{day, this_year, years{1}}.week;
        case 'w': return WeekPlace{day, this_month, months{1}}.week;
        case 'X': return static_cast<int>(WeekPlace{day, this_year, years{1}}.begin.year());
        case 'x': return static_cast<unsigned>(WeekPlace{day, this_month, months{1}}.begin.month());
        case 'H': return clock.hours().count();
        case 'h': return clock.hours().count() % 12 == 0 ? 12 : clock.hours().count() % 12;
        case 'P': return clock.hours().count() >= 12 ? 1 : 0;
        case 'm': return clock.minutes().count();
        case 's': return clock.seconds().count();
        case 'f': return clock.subseconds().count();
        default: return 0;
    }
}

std::string format_time(std::int64_t millis, const TimePicture& picture, int offset_minutes) {
    auto local = millis + std::int64_t{offset_minutes} * 60'000;
    auto text = std::string{};
    for (const auto& part : picture.parts) {
        text += format_part(part, local, offset_minutes);
    }
    return text;
}

} // namespace sluice::expr::jsonata::internal
