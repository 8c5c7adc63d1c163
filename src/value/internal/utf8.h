#pragma once

#include <string>
#include <string_view>

namespace sluice::value {

/// The text with U+FFFD in the place of each longest part that can begin no character, as Unicode's
/// "substitution of maximal subparts" has it.
std::string replace_invalid_utf8(std::string_view text);

} // namespace sluice::value
