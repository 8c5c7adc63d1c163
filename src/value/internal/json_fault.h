#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace sluice::value {

/// The byte at which a text stops following RFC 8259's grammar, its size when it ends too early.
///
/// The parser does not say where it stopped, so this looks again, for the message. None when the
/// grammar holds; what lies within it (UTF-8, surrogates, the size of numbers) is not looked at.
std::optional<std::size_t> find_json_fault(std::string_view text);

} // namespace sluice::value
