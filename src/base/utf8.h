#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

struct CodePoint {
    std::uint32_t code = 0;
    std::size_t size = 0; ///< Bytes it takes; 0: not UTF-8.
};

/// The first code point of a text that is not empty. Overlong forms and surrogates are not UTF-8.
CodePoint decode_utf8(std::string_view text);
void append_utf8(std::uint32_t code, std::string& out);
/// Surrogates and what lies above U+10FFFF are no characters.
bool is_character(std::uint32_t code);

/// The first byte that is not UTF-8, or the size when all of it is.
std::size_t valid_utf8_prefix(std::string_view text);
inline bool is_utf8(std::string_view text) {
    return valid_utf8_prefix(text) == text.size();
}
/// The text with U+FFFD in the place of each longest part that can begin no character, as Unicode's
/// "substitution of maximal subparts" has it.
std::string replace_invalid_utf8(std::string_view text);

} // namespace sluice
