#pragma once

#include <cstddef>

namespace sluice::expr::jsonpath::internal {

/// Brackets, filters and functions within each other.
inline constexpr std::size_t nesting_max = 64;

} // namespace sluice::expr::jsonpath::internal
