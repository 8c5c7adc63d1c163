#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "event/codec.h"

namespace sluice::event {

/// A header field: name and value, as they stood in the message.
using HttpField = std::pair<std::string_view, std::string_view>;

/// The events that an HTTP message carries, in whichever mode its content type says: binary,
/// structured or batch.
///
/// Fails with Unsupported when it is no CloudEvent or in a format that is not read (415), with
/// InvalidInput when it is not a valid one (400), with LimitExceeded when it is too large (413).
Result<std::vector<Event>> read_http(Codec& codec, std::span<const HttpField> fields,
                                     std::string_view body);

/// An event in binary mode: header fields, and the body.
struct HttpEvent {
    std::vector<std::pair<std::string, std::string>> fields;
    std::string body;
};

HttpEvent to_http(const Event& event);

} // namespace sluice::event
