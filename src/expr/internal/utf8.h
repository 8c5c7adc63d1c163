#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::expr::internal {

/// The first byte that is not UTF-8, or the size when all of it is.
std::size_t valid_utf8_prefix(std::string_view text);

/// The beginning of a text, short enough for a message and cut between characters.
std::string_view excerpt(std::string_view text);

/// Of a valid text.
std::size_t count_code_points(std::string_view text);

/// Surrogates and what lies above U+10FFFF are no characters.
bool is_character(std::uint32_t code_point);

void append_utf8(std::uint32_t code_point, std::string& out);

} // namespace sluice::expr::internal
