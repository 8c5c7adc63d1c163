#pragma once

#include <memory>

#include "base/result.h"
#include "connector/redis/options.h"
#include "event/bus.h"
#include "observe/diagnostics.h"

namespace sluice::connector::redis {

/// A stream for each shard, `PREFIX:events:N`. The diagnostics outlive it and all that it opens.
Result<std::unique_ptr<event::Bus>> open_bus(const Options& options,
                                             observe::Diagnostics& diagnostics);

} // namespace sluice::connector::redis
