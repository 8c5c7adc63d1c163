#pragma once

#include <memory>

#include "base/result.h"
#include "connector/nats/options.h"
#include "event/bus.h"
#include "observe/diagnostics.h"

namespace sluice::connector::nats {

/// JetStream as the bus: shard 12 has the subject `prefix.12`, which is its partition's name, in a
/// stream `PREFIX_12` of its own, and the position is the number in the stream. The diagnostics
/// outlive it, and what it opens.
Result<std::unique_ptr<event::Bus>> open_bus(const Options& options,
                                             observe::Diagnostics& diagnostics);

} // namespace sluice::connector::nats
