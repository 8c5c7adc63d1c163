#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "connector/nats/options.h"
#include "event/message.h"

namespace sluice::connector::nats {

/// A header field: name and value, as they stood in the message.
using Field = std::pair<std::string_view, std::string_view>;

/// Turns messages of NATS into those that all bindings share (CloudEvents, NATS binding 1.0.2):
/// attributes are header fields `ce-…`, `Content-Type` marks what is structured.
class Binding {
public:
    /// Valid until the next one is read.
    event::Message read(const std::vector<Field>& fields, std::string_view body);

private:
    std::vector<std::pair<std::string, std::string>> decoded_;
    std::vector<std::pair<std::string_view, std::string_view>> attributes_;
};

/// An event as it is sent.
struct Encoded {
    std::vector<std::pair<std::string, std::string>> fields;
    std::string body;
};

/// In binary mode the JSON is taken apart: fails with InvalidInput when it is no event.
Result<Encoded> encode(Mode mode, std::string json);

} // namespace sluice::connector::nats
