#pragma once

#include <cstddef>
#include <string_view>

namespace sluice::expr::cel::runtime {

/// The beginning of a text, short enough for a message and cut between characters.
std::string_view excerpt(std::string_view text);

/// Of a valid text.
std::size_t count_code_points(std::string_view text);

} // namespace sluice::expr::cel::runtime
