#pragma once

#include <string>
#include <string_view>

namespace sluice::connector::process {

/// Bytes that ought to be UTF-8 as text that is: each byte that is not part of a character becomes
/// U+FFFD.
std::string lossy_text(std::string_view bytes);

} // namespace sluice::connector::process
