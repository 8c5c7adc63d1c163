#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::event::internal {

struct CodePoint {
    std::uint32_t code = 0;
    std::size_t size = 0; ///< Bytes it takes; 0: not UTF-8.
};

/// The first code point of a text that is not empty. Overlong forms and surrogates are not UTF-8.
CodePoint decode_utf8(std::string_view text);
void append_utf8(std::uint32_t code, std::string& out);

} // namespace sluice::event::internal
