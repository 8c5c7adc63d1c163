#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "event/message.h"

namespace sluice::event::internal {

inline constexpr auto structured_type = std::string_view{"application/cloudevents+json"};

char lower(char letter);
std::string lowered(std::string_view text);
/// The media type alone, in small letters.
std::string media_type(std::string_view content_type);

/// Appends a message in binary mode as one JSON text, so that the same rules are checked in the
/// same place. InvalidInput when a name or value cannot be an attribute's.
Result<void> append_binary(const Message& message, std::string& json);

} // namespace sluice::event::internal
