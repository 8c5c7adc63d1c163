#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice {

/// RFC 4648 section 4, with padding.
void base64_encode(std::string_view bytes, std::string& out);
std::string base64_encode(std::string_view bytes);
/// Padded, nothing else in between, unused bits zero. Takes no memory.
bool is_base64(std::string_view text);
/// Strict: padding required, nothing else in between. Fails with InvalidInput.
Result<std::string> base64_decode(std::string_view text);

} // namespace sluice
