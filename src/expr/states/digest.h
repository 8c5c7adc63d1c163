#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::expr::states {

/// The hash of a text in hexadecimal digits, by MD5, SHA-1, SHA-256, SHA-384 or SHA-512; nothing
/// when there is no such algorithm.
std::optional<std::string> hex_digest(std::string_view text, std::string_view algorithm);

} // namespace sluice::expr::states
