#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "connector/nats/session.h"
#include "event/bus.h"

namespace sluice::connector::nats::internal {

/// How fast the bare client reads a stream that holds so many messages, throwing them away: by a
/// consumer whose messages are acknowledged in groups, and by one without acknowledgements.
Result<event::Ceiling> measure(const Session& session, const std::string& stream,
                               std::uint64_t events);

} // namespace sluice::connector::nats::internal
