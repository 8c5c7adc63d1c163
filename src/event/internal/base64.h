#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::event::internal {

/// RFC 4648, section 4: padded, no line breaks, unused bits zero.
bool is_base64(std::string_view text);
/// Nothing when the text is not base64.
std::optional<std::string> decode_base64(std::string_view text);

} // namespace sluice::event::internal
