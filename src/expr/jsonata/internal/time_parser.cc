#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>

#include "expr/jsonata/internal/letter_case.h"
#include "expr/jsonata/internal/raise.h"
#include "expr/jsonata/internal/regex.h"
#include "expr/jsonata/internal/text.h"
#include "expr/jsonata/internal/time_picture.h"

namespace sluice::expr::jsonata::internal {
namespace {

using Components = std::map<char, std::int64_t>;

std::string escaped(std::string_view literal) {
    auto pattern = std::string{};
    for (auto character : literal) {
        pattern += std::string_view{".*+?^${}()|[]\\/"}.contains(character) ? "\\" : "";
        pattern += character;
    }
    return pattern;
}

/// The character between hours and minutes of a zone; 0 when there is none.
std::uint32_t zone_separator(const TimePicture::Part& part) {
    return part.integer && !part.integer->separators.empty() ? part.integer->separators[0].character
                                                             : 0;
}

std::string pattern_of_part(const TimePicture::Part& part) {
    if (part.component == 0) {
        return escaped(part.literal);
    }
    if (part.component == 'Z' || part.component == 'z') {
        auto pattern = std::string{part.component == 'z' ? "GMT[-+][0-9]+" : "[-+][0-9]+"};
        if (auto separator = zone_separator(part)) {
            auto literal = std::string{};
            append_code(separator, literal);
            pattern += escaped(literal) + "[0-9]+";
        }
        return part.is_traditional ? pattern + "|Z" : pattern;
    }
    return part.integer && !part.has_names ? pattern_of(*part.integer) : "[a-zA-Z]+";
}

/// Minutes ahead of UTC.
std::int64_t parse_zone(std::string_view text, const TimePicture::Part& part) {
    if (text.ends_with('Z')) {
        return 0;
    }
    text.remove_prefix(text.find_first_of("+-"));
    auto is_west = text[0] == '-';
    auto digits = std::string{text.substr(1)};
    auto hours = digits;
    auto minutes = std::string{"0"};
    if (auto split = digits.find_first_not_of("0123456789"); split != digits.npos) {
        hours = digits.substr(0, split);
        minutes = digits.substr(digits.find_last_not_of("0123456789") + 1);
    } else if (zone_separator(part) == 0 && digits.size() > 2) {
        hours = digits.substr(0, 2);
        minutes = digits.substr(2);
    }
    auto total = std::atoi(hours.c_str()) * 60LL + std::atoi(minutes.c_str());
    return is_west ? -total : total;
}

std::optional<std::int64_t> parse_name(std::string_view text, const TimePicture::Part& part) {
    if (part.component == 'P') {
        auto lower = lower_text(text);
        return lower == "am" ? std::optional{0} : lower == "pm" ? std::optional{1} : std::nullopt;
    }
    auto is_month = part.component == 'M' || part.component == 'x';
    if (!is_month && part.component != 'F') {
        raise("D3133",
              "the 'name' modifier can only be applied to months and days in the date/time picture "
              "string, not {}",
              part.component);
    }
    const auto& names = is_month ? month_names : day_names;
    for (auto i = std::size_t{0}; i < names.size(); ++i) {
        auto name = names[i].substr(0, part.width_max.value_or(names[i].size()));
        if (lower_text(name) == lower_text(text)) {
            return static_cast<std::int64_t>(i + 1);
        }
    }
    return std::nullopt;
}

std::optional<std::int64_t> parse_part(std::string_view text, const TimePicture::Part& part) {
    if (part.component == 'Z' || part.component == 'z') {
        return parse_zone(text, part);
    }
    if (part.has_names || !part.integer) {
        return parse_name(text, part);
    }
    auto number = parse_integer(text, *part.integer);
    if (part.component == 'f') {
        auto digits = static_cast<double>(count_characters(text));
        return static_cast<std::int64_t>(number * std::pow(10.0, 3 - digits) + 1e-9);
    }
    return std::abs(number) < 1e9 ? std::optional{static_cast<std::int64_t>(number)} : std::nullopt;
}

std::optional<Components> read(std::string_view text, const TimePicture& picture,
                               const std::function<void(std::size_t)>& spend) {
    auto pattern = std::string{"^"};
    for (const auto& part : picture.parts) {
        pattern += "(" + pattern_of_part(part) + ")";
    }
    auto found = Regex{pattern + "$", "i"}.search(text, 0, spend);
    if (!found) {
        return std::nullopt;
    }
    auto components = Components{};
    for (auto i = std::size_t{0}; i < picture.parts.size(); ++i) {
        const auto& part = picture.parts[i];
        if (part.component == 0) {
            continue;
        }
        auto span = *found->groups[i + 1];
        auto value = parse_part(text.substr(span.begin, span.end - span.begin), part);
        if (!value) {
            return std::nullopt;
        }
        components[part.component] = *value;
    }
    return components;
}

/// Whether some components of a kind are given and all of those are in the set.
bool is_given(const Components& components, std::string_view kind, std::string_view set) {
    auto is_any = false;
    for (auto component : kind) {
        if (components.contains(component)) {
            if (!set.contains(component)) {
                return false;
            }
            is_any = true;
        }
    }
    return is_any;
}

/// What is left out in front comes from now, what is left out behind is the least there is.
void complete(Components& components, std::string_view wanted, std::int64_t now) {
    auto has_begun = false;
    auto has_ended = false;
    for (auto component : wanted) {
        if (components.contains(component)) {
            has_begun = true;
            if (has_ended) {
                raise("D3136", "the date/time picture string is missing specifiers required to "
                               "parse the timestamp");
            }
        } else if (has_begun) {
            components[component] = std::string_view{"MDd"}.contains(component) ? 1 : 0;
            has_ended = true;
        } else {
            components[component] = component_of(now, component);
        }
    }
}

std::int64_t to_millis(Components& components, bool is_day_of_year) {
    auto year = std::chrono::year{static_cast<int>(components['Y'])};
    auto month = is_day_of_year ? 0 : components['M'] - 1;
    // Months and days past the end go on, as JavaScript's do.
    auto first = std::chrono::sys_days{(year / std::chrono::January +
                                        std::chrono::months{static_cast<int>(month)}) / 1};
    auto day = is_day_of_year ? components['d'] : components['D'];
    auto days = first.time_since_epoch().count() + day - 1;
    auto hours = days * 24 + components['H'];
    auto minutes = hours * 60 + components['m'] - components['Z'] - components['z'];
    return (minutes * 60 + components['s']) * 1000 + components['f'];
}

} // namespace

std::optional<std::int64_t> parse_time(std::string_view text, const TimePicture& picture,
                                       std::int64_t now,
                                       const std::function<void(std::size_t)>& spend) {
    auto read_components = read(text, picture, spend);
    if (!read_components || read_components->empty()) {
        return std::nullopt;
    }
    auto components = *read_components;
    constexpr auto dates = std::string_view{"YXMxWwdD"};
    auto is_date = is_given(components, dates, "YMD");
    auto is_day_of_year = !is_date && is_given(components, dates, "Yd");
    auto is_week = !is_date && !is_day_of_year &&
                   (is_given(components, dates, "Xxw") || is_given(components, dates, "XW"));
    auto is_twelve_hours = !is_given(components, "PHhmsf", "Hmsf") &&
                           is_given(components, "PHhmsf", "Phmsf");
    if (is_week) {
        raise("D3136", "the date/time picture string is missing specifiers required to parse the "
                       "timestamp: dates by week cannot be parsed");
    }
    complete(components,
             std::string{is_day_of_year ? "Yd" : "YMD"} + (is_twelve_hours ? "Phmsf" : "Hmsf"), now);
    if (is_twelve_hours) {
        components['H'] = components['h'] % 12 + (components['P'] == 1 ? 12 : 0);
    }
    return to_millis(components, is_day_of_year);
}

} // namespace sluice::expr::jsonata::internal
