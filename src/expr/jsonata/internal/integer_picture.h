#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::expr::jsonata::internal {

enum class Numbering : std::uint8_t { Decimal, Letters, Roman, Words, Sequence };
enum class LetterCase : std::uint8_t { Lower, Upper, Title };

/// How XPath's `format-integer` writes a whole number: digits, letters, Roman numerals or words.
struct IntegerPicture {
    struct Separator {
        std::size_t position = 0; ///< In digits from the right.
        std::uint32_t character = 0;
    };

    Numbering numbering = Numbering::Decimal;
    LetterCase letter_case = LetterCase::Lower;
    bool is_ordinal = false;
    std::uint32_t zero = '0';
    std::size_t digits_min = 0;
    std::size_t digits_optional = 0;
    std::vector<Separator> separators;
    std::size_t distance = 0;    ///< Between separators that come at regular places.
    std::size_t parse_width = 0; ///< Digits that are read; 0: as many as there are.
    std::string sequence;        ///< The picture, when it is none of those known.

    /// Raises D3131.
    static IntegerPicture parse(std::string_view text);
};

/// Raises D3130.
std::string format_integer(double number, const IntegerPicture& picture);
/// A regular expression for what the picture writes. Raises D3130.
std::string pattern_of(const IntegerPicture& picture);
/// What a text stands for; NaN when it has no digits.
double parse_integer(std::string_view text, const IntegerPicture& picture);

} // namespace sluice::expr::jsonata::internal
