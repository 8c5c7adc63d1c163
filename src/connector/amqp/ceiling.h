#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "connector/amqp/options.h"
#include "event/bus.h"

namespace sluice::connector::amqp {

/// Reads so many events from the beginning of this queue as fast as a bare loop can, throwing them
/// away; a stream by its own protocol where it is read by that. By acknowledgements a twin of the
/// queue is read, filled with copies of its first event: a stream's twin is a quorum queue. What
/// lies in the queue stays there.
Result<event::Ceiling> measure(const Options& options, const std::string& queue,
                               std::uint64_t events);

} // namespace sluice::connector::amqp
