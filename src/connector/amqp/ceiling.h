#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "connector/amqp/options.h"
#include "event/bus.h"

namespace sluice::connector::amqp {

/// Reads so many events from the beginning of this queue as fast as a bare loop can, throwing them
/// away, and acknowledges them: they are gone then. A stream is read by position, by its own
/// protocol where it is read by that, and stays; by acknowledgements a quorum queue is read that is
/// filled with copies of the stream's first event.
Result<event::Ceiling> measure(const Options& options, const std::string& queue,
                               std::uint64_t events);

} // namespace sluice::connector::amqp
