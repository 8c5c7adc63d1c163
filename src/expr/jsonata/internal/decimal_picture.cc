#include "expr/jsonata/internal/decimal_picture.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "expr/jsonata/internal/operators.h"
#include "expr/jsonata/internal/raise.h"
#include "expr/jsonata/internal/text.h"

namespace sluice::expr::jsonata::internal {
namespace {

std::u32string to_codes(std::string_view text) {
    auto codes = std::u32string{};
    for (auto at = std::size_t{0}; at < text.size();) {
        auto [code, size] = character_at(text, at);
        codes += static_cast<char32_t>(code);
        at += size;
    }
    return codes;
}

std::string to_text(const std::u32string& codes) {
    auto text = std::string{};
    for (auto code : codes) {
        append_code(code, text);
    }
    return text;
}

/// The characters of a picture, by the names that XPath gives them.
struct Symbols {
    std::u32string decimal = U".";
    std::u32string grouping = U",";
    std::u32string exponent = U"e";
    std::u32string minus = U"-";
    std::u32string percent = U"%";
    std::u32string per_mille = U"\u2030";
    std::u32string zero = U"0";
    std::u32string digit = U"#";
    std::u32string separator = U";";

    bool is_digit(char32_t code) const { return code >= zero[0] && code < zero[0] + 10; }
    bool is_place(char32_t code) const { return is_digit(code) || code == digit[0]; }
    bool is_active(char32_t code) const {
        return is_place(code) || code == decimal[0] || code == grouping[0] || code == exponent[0];
    }
    std::size_t count_digits(std::u32string_view part) const {
        return static_cast<std::size_t>(
            std::ranges::count_if(part, [&](char32_t code) { return is_digit(code); }));
    }
    std::size_t count_places(std::u32string_view part) const {
        return static_cast<std::size_t>(
            std::ranges::count_if(part, [&](char32_t code) { return is_place(code); }));
    }
};

Symbols symbols_of(const Item& options, Arena& arena) {
    auto symbols = Symbols{};
    auto take = [&](std::string_view name, std::u32string& symbol) {
        auto given = member_of(options, name, arena);
        if (given.is_string() && given.length > 0) {
            symbol = to_codes(given.as_text());
        }
    };
    take("decimal-separator", symbols.decimal);
    take("grouping-separator", symbols.grouping);
    take("exponent-separator", symbols.exponent);
    take("minus-sign", symbols.minus);
    take("percent", symbols.percent);
    take("per-mille", symbols.per_mille);
    take("zero-digit", symbols.zero);
    take("digit", symbols.digit);
    take("pattern-separator", symbols.separator);
    return symbols;
}

struct Parts {
    std::u32string whole;
    std::u32string prefix;
    std::u32string suffix;
    std::u32string active;
    std::u32string integer;
    std::u32string fraction;
    std::optional<std::u32string> exponent;
};

Parts split(const std::u32string& picture, const Symbols& symbols) {
    auto is_edge = [&](char32_t code) {
        return symbols.is_active(code) && code != symbols.exponent[0];
    };
    auto parts = Parts{.whole = picture};
    auto first = std::ranges::find_if(picture, is_edge);
    if (first == picture.end()) {
        raise("D3086", "the picture of formatNumber must have a digit or an optional digit");
    }
    auto last = std::find_if(picture.rbegin(), picture.rend(), is_edge).base();
    parts.prefix = {picture.begin(), first};
    parts.suffix = {last, picture.end()};
    parts.active = {first, last};
    auto mantissa = parts.active;
    if (auto at = mantissa.find(symbols.exponent[0]); at != mantissa.npos) {
        parts.exponent = mantissa.substr(at + 1);
        mantissa.resize(at);
    }
    auto point = mantissa.find(symbols.decimal[0]);
    parts.integer = mantissa.substr(0, point);
    parts.fraction = point == mantissa.npos ? U"" : mantissa.substr(point + 1);
    return parts;
}

void check(bool is_fine, std::string_view code, std::string_view what) {
    if (!is_fine) {
        raise(code, "the picture of formatNumber {}", what);
    }
}

void check_signs(const Parts& parts, const Symbols& symbols) {
    auto count = [&](const std::u32string& symbol) {
        return std::ranges::count(parts.whole, symbol[0]);
    };
    check(count(symbols.decimal) <= 1, "D3081", "must have at most one decimal separator");
    check(count(symbols.percent) <= 1, "D3082", "must have at most one percent");
    check(count(symbols.per_mille) <= 1, "D3083", "must have at most one per-mille");
    check(count(symbols.percent) + count(symbols.per_mille) <= 1, "D3084",
          "must not have both a percent and a per-mille");
    check(symbols.count_places(parts.integer + parts.fraction) > 0, "D3085",
          "must have a digit or an optional digit in its mantissa");
    check(std::ranges::all_of(parts.active, [&](char32_t code) { return symbols.is_active(code); }),
          "D3086", "must not have passive characters between active ones");
    if (parts.exponent) {
        check(parts.exponent->empty() || count(symbols.percent) + count(symbols.per_mille) == 0,
              "D3092", "must not have a percent or per-mille beside an exponent");
        check(!parts.exponent->empty() &&
                  symbols.count_digits(*parts.exponent) == parts.exponent->size(),
              "D3093", "must have digits alone in its exponent");
    }
}

void check_grouping(const Parts& parts, const Symbols& symbols) {
    auto group = symbols.grouping[0];
    auto point = parts.whole.find(symbols.decimal[0]);
    if (point != parts.whole.npos) {
        auto is_beside = (point > 0 && parts.whole[point - 1] == group) ||
                         (point + 1 < parts.whole.size() && parts.whole[point + 1] == group);
        check(!is_beside, "D3087", "must not have a grouping separator beside the decimal one");
    } else {
        check(!parts.integer.ends_with(group), "D3088",
              "must not have a grouping separator at the end of its integer part");
    }
    check(parts.whole.find(std::u32string(2, group)) == parts.whole.npos, "D3089",
          "must not have two grouping separators in a row");
    auto optional = parts.integer.find(symbols.digit[0]);
    check(optional == parts.integer.npos ||
              symbols.count_digits(std::u32string_view{parts.integer}.substr(0, optional)) == 0,
          "D3090", "must not have a digit before an optional digit in its integer part");
    optional = parts.fraction.rfind(symbols.digit[0]);
    check(optional == parts.fraction.npos ||
              symbols.count_digits(std::u32string_view{parts.fraction}.substr(optional)) == 0,
          "D3091", "must not have a digit after an optional digit in its fractional part");
}

/// How far each separator is from the point, in places.
std::vector<std::size_t> group_positions(const std::u32string& part, const Symbols& symbols,
                                         bool is_fraction) {
    auto positions = std::vector<std::size_t>{};
    auto view = std::u32string_view{part};
    for (auto at = view.find(symbols.grouping[0]); at != view.npos;
         at = view.find(symbols.grouping[0], at + 1)) {
        positions.push_back(symbols.count_places(is_fraction ? view.substr(0, at) : view.substr(at)));
    }
    return positions;
}

/// The distance of separators that stand at each multiple of it, else 0.
std::size_t regular_distance(const std::vector<std::size_t>& positions) {
    if (positions.empty()) {
        return 0;
    }
    auto factor = std::accumulate(positions.begin(), positions.end(), std::size_t{0},
                                  [](auto one, auto other) { return std::gcd(one, other); });
    for (auto i = std::size_t{1}; i <= positions.size(); ++i) {
        if (std::ranges::find(positions, i * factor) == positions.end()) {
            return 0;
        }
    }
    return factor;
}

struct Layout {
    Parts parts;
    std::vector<std::size_t> integer_groups;
    std::vector<std::size_t> fraction_groups;
    std::size_t distance = 0;
    std::size_t integer_min = 0;
    std::size_t scale = 0;
    std::size_t fraction_min = 0;
    std::size_t fraction_max = 0;
    std::size_t exponent_min = 0;
};

Layout analyse(const std::u32string& picture, const Symbols& symbols) {
    auto layout = Layout{.parts = split(picture, symbols)};
    const auto& parts = layout.parts;
    check_signs(parts, symbols);
    check_grouping(parts, symbols);
    layout.integer_groups = group_positions(parts.integer, symbols, false);
    layout.fraction_groups = group_positions(parts.fraction, symbols, true);
    layout.distance = regular_distance(layout.integer_groups);
    layout.integer_min = symbols.count_digits(parts.integer);
    layout.scale = layout.integer_min;
    layout.fraction_min = symbols.count_digits(parts.fraction);
    layout.fraction_max = symbols.count_places(parts.fraction);
    layout.exponent_min = parts.exponent ? symbols.count_digits(*parts.exponent) : 0;
    if (layout.integer_min == 0 && layout.fraction_max == 0) {
        if (parts.exponent) {
            layout.fraction_min = layout.fraction_max = 1;
        } else {
            layout.integer_min = 1;
        }
    }
    if (parts.exponent && layout.integer_min == 0 && parts.integer.contains(symbols.digit[0])) {
        layout.integer_min = 1;
    }
    if (layout.integer_min == 0 && layout.fraction_min == 0) {
        layout.fraction_min = 1;
    }
    return layout;
}

/// The digits of a number without its sign, in the family of the picture.
std::u32string digits_of(double number, std::size_t fraction, const Symbols& symbols) {
    auto text = fmt::format("{:.{}f}", std::abs(number), fraction);
    auto digits = std::u32string{};
    for (auto character : text) {
        digits += character == '.' ? symbols.decimal[0]
                                   : symbols.zero[0] + static_cast<char32_t>(character - '0');
    }
    return digits;
}

void group(std::u32string& digits, const Layout& layout, const Symbols& symbols) {
    auto point = digits.find(symbols.decimal[0]);
    if (layout.distance > 0) {
        for (auto place = layout.distance; place < point; place += layout.distance) {
            digits.insert(point - place, 1, symbols.grouping[0]);
        }
    } else {
        for (auto place : layout.integer_groups) {
            if (place < point) {
                digits.insert(point - place, 1, symbols.grouping[0]);
                ++point;
            }
        }
    }
    point = digits.find(symbols.decimal[0]);
    for (auto place : layout.fraction_groups) {
        if (place + point + 1 < digits.size()) {
            digits.insert(place + point + 1, 1, symbols.grouping[0]);
            ++point;
        }
    }
}

std::u32string lay_out(double mantissa, const Layout& layout, const Symbols& symbols) {
    auto rounded = round_to(mantissa, static_cast<int>(layout.fraction_max));
    auto digits = digits_of(rounded, layout.fraction_max, symbols);
    if (!digits.contains(symbols.decimal[0])) {
        digits += symbols.decimal[0];
    }
    digits.erase(0, digits.find_first_not_of(symbols.zero[0]));
    digits.erase(digits.find_last_not_of(symbols.zero[0]) + 1);
    auto point = digits.find(symbols.decimal[0]);
    if (point < layout.integer_min) {
        digits.insert(0, layout.integer_min - point, symbols.zero[0]);
        point = layout.integer_min;
    }
    auto fraction = digits.size() - point - 1;
    if (fraction < layout.fraction_min) {
        digits.append(layout.fraction_min - fraction, symbols.zero[0]);
    }
    group(digits, layout, symbols);
    if (digits.ends_with(symbols.decimal[0])) {
        digits.pop_back();
    }
    return digits;
}

} // namespace

double round_to(double number, int digits) {
    auto shift = [](double value, int places) {
        return std::strtod(fmt::format("{}e{}", number_text(value).find('e') == std::string::npos
                                                    ? number_text(value)
                                                    : fmt::format("{:.0f}", value),
                                       places)
                               .c_str(),
                           nullptr);
    };
    if (!std::isfinite(number)) {
        return number;
    }
    auto is_small = std::abs(number) < 1e-6 && number != 0;
    auto shifted = digits == 0 ? number : is_small ? number * std::pow(10, digits)
                                                   : shift(number, digits);
    if (!std::isfinite(shifted)) {
        return number;
    }
    auto result = std::floor(shifted + 0.5);
    if (std::abs(result - shifted) == 0.5 && std::fmod(std::abs(result), 2) == 1) {
        result -= 1;
    }
    result = digits == 0 ? result : shift(result, -digits);
    return result == 0 ? 0 : result;
}

std::string format_number(double number, std::string_view picture, const Item& options,
                          Arena& arena) {
    auto symbols = symbols_of(options, arena);
    auto codes = to_codes(picture);
    auto pictures = std::vector<std::u32string>{};
    for (auto from = std::size_t{0}; from <= codes.size();) {
        auto end = std::min(codes.find(symbols.separator[0], from), codes.size());
        pictures.push_back(codes.substr(from, end - from));
        from = end + 1;
    }
    check(pictures.size() <= 2, "D3080", "must have at most one pattern separator");
    auto layouts = std::vector<Layout>{};
    for (const auto& one : pictures) {
        layouts.push_back(analyse(one, symbols));
    }
    if (layouts.size() == 1) {
        layouts.push_back(layouts[0]);
        layouts[1].parts.prefix = symbols.minus + layouts[1].parts.prefix;
    }
    const auto& layout = layouts[number >= 0 ? 0 : 1];
    const auto& parts = layout.parts;
    number *= parts.whole.contains(symbols.percent[0])     ? 100
              : parts.whole.contains(symbols.per_mille[0]) ? 1000
                                                           : 1;
    if (layout.exponent_min == 0) {
        return to_text(parts.prefix + lay_out(number, layout, symbols) + parts.suffix);
    }
    auto mantissa = std::abs(number);
    auto exponent = 0;
    auto mantissa_max = std::pow(10.0, static_cast<double>(layout.scale));
    for (; mantissa != 0 && mantissa < mantissa_max / 10; --exponent) {
        mantissa *= 10;
    }
    for (; mantissa > mantissa_max; ++exponent) {
        mantissa /= 10;
    }
    auto power = digits_of(exponent, 0, symbols);
    if (power.size() < layout.exponent_min) {
        power.insert(0, layout.exponent_min - power.size(), symbols.zero[0]);
    }
    return to_text(parts.prefix + lay_out(mantissa, layout, symbols) + symbols.exponent +
                   (exponent < 0 ? symbols.minus : U"") + power + parts.suffix);
}

} // namespace sluice::expr::jsonata::internal
