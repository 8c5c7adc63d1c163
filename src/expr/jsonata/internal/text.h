#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::expr::jsonata::internal {

// Texts are UTF-8 in which the escapes of literals may leave single surrogates, as JavaScript's
// strings may. What is no such text counts a byte as a character.

struct Character {
    std::uint32_t code = 0;
    std::size_t size = 1;
};

/// The character at a byte of a text that has more.
Character character_at(std::string_view text, std::size_t at);
/// The size of the character that ends before a byte that is not the first.
std::size_t size_before(std::string_view text, std::size_t at);
void append_code(std::uint32_t code, std::string& out);

std::size_t count_characters(std::string_view text);
/// The byte at which a character begins; the size when there are not so many.
std::size_t byte_of_character(std::string_view text, std::size_t character);

/// JavaScript's count: characters above U+FFFF count twice.
std::size_t count_units(std::string_view text);
std::size_t byte_of_unit(std::string_view text, std::size_t unit);
/// JavaScript's order: that of UTF-16 units.
int compare_units(std::string_view left, std::string_view right);

/// Single surrogates become U+FFFD.
std::string without_surrogates(std::string_view text);
bool has_surrogates(std::string_view text);

} // namespace sluice::expr::jsonata::internal
