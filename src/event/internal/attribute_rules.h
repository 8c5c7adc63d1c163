#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::event::internal {

inline constexpr std::size_t scope_segments_max = 32;

enum class UriKind : std::uint8_t { Invalid, Relative, Absolute };

/// RFC 3986, section 4.1: Absolute has a scheme, Relative none. An empty text is a valid Relative.
UriKind classify_uri(std::string_view text);
/// RFC 2046: type and subtype, then parameters, such as `text/plain; charset=utf-8`.
bool is_media_type(std::string_view text);
/// One or more of a-z and 0-9.
bool is_attribute_name(std::string_view name);
/// UTF-8 without control characters and noncharacters: CloudEvents, "Type System", String.
bool is_attribute_text(std::string_view text);
/// Non-empty segments separated by '/', at most scope_segments_max.
bool is_scope(std::string_view text);

} // namespace sluice::event::internal
