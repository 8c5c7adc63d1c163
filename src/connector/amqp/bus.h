#pragma once

#include <memory>

#include "base/result.h"
#include "connector/amqp/options.h"
#include "event/bus.h"
#include "observe/diagnostics.h"

namespace sluice::connector::amqp {

/// One queue per shard, `PREFIX.12`, of the type that the options name, written by the default
/// exchange. `diagnostics` outlives it and what it opens.
Result<std::unique_ptr<event::Bus>> open_bus(const Options& options,
                                             observe::Diagnostics& diagnostics);

} // namespace sluice::connector::amqp
