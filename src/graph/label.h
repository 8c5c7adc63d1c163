#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::graph {

enum class Letters : std::uint8_t { Unicode, Ascii };

/// A text that is safe to show: on one line, without controls and without characters that change
/// the direction of others or cannot be seen, which become escapes such as \u{202E}; not longer
/// than so many cells.
std::string shown(std::string_view text, std::size_t cells_max, Letters letters = Letters::Unicode);

/// How many cells of a terminal it takes.
std::size_t cells_of(std::string_view text);
/// The same of a character: 0, 1 or 2.
std::size_t cells_of(std::uint32_t code);

} // namespace sluice::graph
