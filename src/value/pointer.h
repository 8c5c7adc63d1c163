#pragma once

#include <string>
#include <string_view>

namespace sluice::value {

/// The JSON pointer (RFC 6901) of a member of what another points at.
std::string join_pointer(std::string_view pointer, std::string_view key);

} // namespace sluice::value
