#pragma once

#include <cstddef>

namespace sluice::workflow::raw::internal {

inline constexpr std::size_t text_bytes_max = 64UL * 1024 * 1024;
inline constexpr std::size_t values_max = 1'000'000;
inline constexpr std::size_t findings_max = 100;

// A reader of YAML remembers a bracketed list as a whole before it hands out the first item. These
// bound what it may remember; they count what may be text too, so they leave room for it.
inline constexpr std::size_t open_brackets_max = 10'000;
inline constexpr std::size_t bracketed_items_max = 2 * values_max;

} // namespace sluice::workflow::raw::internal
