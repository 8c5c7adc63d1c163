#pragma once

#include <cstddef>

namespace sluice::expr::jsonpath::internal {

/// Of a path's text.
inline constexpr std::size_t path_bytes_max = 256UL * 1024;
/// Brackets, filters and functions within each other.
inline constexpr std::size_t nesting_max = 64;

} // namespace sluice::expr::jsonpath::internal
