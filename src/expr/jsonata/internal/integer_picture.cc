#include "expr/jsonata/internal/integer_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "expr/jsonata/internal/integer_words.h"
#include "expr/jsonata/internal/letter_case.h"
#include "expr/jsonata/internal/raise.h"
#include "expr/jsonata/internal/text.h"

namespace sluice::expr::jsonata::internal {
namespace {

/// The zeros of Unicode's decimal digits in the basic plane.
constexpr auto zeros = std::to_array<std::uint32_t>(
    {0x30,   0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6,
     0x0C66, 0x0CE6, 0x0D66, 0x0DE6, 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x1090, 0x17E0,
     0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620,
     0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10});

std::optional<std::uint32_t> zero_of(std::uint32_t code) {
    const auto* found =
        std::ranges::find_if(zeros, [&](auto zero) { return code >= zero && code < zero + 10; });
    return found == zeros.end() ? std::nullopt : std::optional{*found};
}

struct Known {
    std::string_view text;
    Numbering numbering;
    LetterCase letter_case;
};

constexpr auto known_pictures = std::to_array<Known>({
    {"A", Numbering::Letters, LetterCase::Upper},
    {"a", Numbering::Letters, LetterCase::Lower},
    {"I", Numbering::Roman, LetterCase::Upper},
    {"i", Numbering::Roman, LetterCase::Lower},
    {"W", Numbering::Words, LetterCase::Upper},
    {"w", Numbering::Words, LetterCase::Lower},
    {"Ww", Numbering::Words, LetterCase::Title},
});

std::size_t regular_separators(const std::vector<IntegerPicture::Separator>& separators) {
    if (separators.empty()) {
        return 0;
    }
    auto factor = std::size_t{0};
    for (const auto& separator : separators) {
        factor = std::gcd(factor, separator.position);
        if (separator.character != separators[0].character) {
            return 0;
        }
    }
    for (auto i = std::size_t{1}; i <= separators.size(); ++i) {
        if (std::ranges::find(separators, i * factor, &IntegerPicture::Separator::position) ==
            separators.end()) {
            return 0;
        }
    }
    return factor;
}

/// Digits, `#` and separators, read from the right.
void parse_digits(std::string_view text, IntegerPicture& picture) {
    auto codes = std::vector<std::uint32_t>{};
    for (auto at = std::size_t{0}; at < text.size();) {
        auto [code, size] = character_at(text, at);
        codes.push_back(code);
        at += size;
    }
    auto family = std::optional<std::uint32_t>{};
    auto position = std::size_t{0};
    for (auto i = codes.size(); i-- > 0;) {
        if (auto zero = zero_of(codes[i])) {
            if (family && *family != *zero) {
                raise("D3131",
                      "in a decimal digit pattern, all digits must be from the same decimal group");
            }
            family = zero;
            ++picture.digits_min;
            ++position;
        } else if (codes[i] == '#') {
            ++picture.digits_optional;
            ++position;
        } else {
            picture.separators.push_back({position, codes[i]});
        }
    }
    if (!family) {
        picture.numbering = Numbering::Sequence;
        picture.sequence = text;
        return;
    }
    picture.zero = *family;
    picture.distance = regular_separators(picture.separators);
}

[[noreturn]] void raise_sequence(const IntegerPicture& picture) {
    raise("D3130", "formatting or parsing an integer as a sequence starting with \"{}\" is not "
                   "supported by this implementation",
          picture.sequence);
}

std::string in_case(const std::string& text, LetterCase letter_case) {
    switch (letter_case) {
        case LetterCase::Lower: return lower_text(text);
        case LetterCase::Upper: return upper_text(text);
        case LetterCase::Title: break;
    }
    return text;
}

std::string ordinal_suffix(std::string_view digits) {
    auto is_teen = digits.size() > 1 && digits[digits.size() - 2] == '1';
    switch (is_teen ? '0' : digits.back()) {
        case '1': return "st";
        case '2': return "nd";
        case '3': return "rd";
        default: return "th";
    }
}

std::string format_decimal(double number, const IntegerPicture& picture) {
    auto digits = fmt::format("{:.0f}", number);
    if (digits.size() < picture.digits_min) {
        digits.insert(0, picture.digits_min - digits.size(), '0');
    }
    auto out = std::string{};
    for (auto i = std::size_t{0}; i < digits.size(); ++i) {
        auto left = digits.size() - i;
        const auto* separator = static_cast<const IntegerPicture::Separator*>(nullptr);
        if (picture.distance > 0) {
            separator = left % picture.distance == 0 ? &picture.separators[0] : nullptr;
        } else {
            auto found = std::ranges::find(picture.separators, left,
                                           &IntegerPicture::Separator::position);
            separator = found == picture.separators.end() ? nullptr : &*found;
        }
        if (separator != nullptr && i > 0) {
            append_code(separator->character, out);
        }
        append_code(picture.zero + static_cast<std::uint32_t>(digits[i] - '0'), out);
    }
    return picture.is_ordinal ? out + ordinal_suffix(digits) : out;
}

} // namespace

IntegerPicture IntegerPicture::parse(std::string_view text) {
    auto picture = IntegerPicture{};
    if (auto semicolon = text.rfind(';'); semicolon != text.npos) {
        picture.is_ordinal = text.substr(semicolon + 1).starts_with('o');
        text = text.substr(0, semicolon);
    }
    const auto* known = std::ranges::find(known_pictures, text, &Known::text);
    if (known != known_pictures.end()) {
        picture.numbering = known->numbering;
        picture.letter_case = known->letter_case;
    } else {
        parse_digits(text, picture);
    }
    return picture;
}

std::string format_integer(double number, const IntegerPicture& picture) {
    auto size = std::abs(number);
    auto text = std::string{};
    switch (picture.numbering) {
        case Numbering::Letters: text = in_case(number_to_letters(size, 'A'), picture.letter_case); break;
        case Numbering::Roman: text = in_case(number_to_roman(size), picture.letter_case); break;
        case Numbering::Words:
            text = in_case(number_to_words(size, picture.is_ordinal), picture.letter_case);
            break;
        case Numbering::Decimal: text = format_decimal(size, picture); break;
        case Numbering::Sequence: raise_sequence(picture);
    }
    return number < 0 ? "-" + text : text;
}

std::string pattern_of(const IntegerPicture& picture) {
    switch (picture.numbering) {
        case Numbering::Letters: return "[a-zA-Z]+";
        case Numbering::Roman: return "[MDCLXVImdclxvi]+";
        case Numbering::Words: return "(?:" + words_pattern() + ")+";
        case Numbering::Sequence: raise_sequence(picture);
        case Numbering::Decimal: break;
    }
    auto pattern = std::string{"["};
    append_code(picture.zero, pattern);
    pattern += '-';
    append_code(picture.zero + 9, pattern);
    for (const auto& separator : picture.separators) {
        pattern += "\\";
        append_code(separator.character, pattern);
    }
    pattern += picture.parse_width > 0 ? fmt::format("]{{{}}}", picture.parse_width) : "]+";
    return pattern + (picture.is_ordinal ? "(?:th|st|nd|rd)" : "");
}

double parse_integer(std::string_view text, const IntegerPicture& picture) {
    switch (picture.numbering) {
        case Numbering::Letters: return letters_to_number(upper_text(text));
        case Numbering::Roman: return roman_to_number(upper_text(text));
        case Numbering::Words: return words_to_number(lower_text(text));
        case Numbering::Sequence: raise_sequence(picture);
        case Numbering::Decimal: break;
    }
    auto digits = std::string{};
    for (auto at = std::size_t{0}; at < text.size();) {
        auto [code, size] = character_at(text, at);
        if (code >= picture.zero && code < picture.zero + 10) {
            digits += static_cast<char>('0' + (code - picture.zero));
        }
        at += size;
    }
    if (digits.empty()) {
        return std::nan("");
    }
    return (text.starts_with('-') ? -1 : 1) * std::strtod(digits.c_str(), nullptr);
}

} // namespace sluice::expr::jsonata::internal
