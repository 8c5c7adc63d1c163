#pragma once

#include <memory>

#include "base/result.h"
#include "connector/kafka/options.h"
#include "event/bus.h"
#include "observe/diagnostics.h"

namespace sluice::connector::kafka {

/// One topic, named by the prefix, with a partition for each shard. The diagnostics must outlive
/// it. Fails with InvalidInput; whether a broker answers shows when it is used.
Result<std::unique_ptr<event::Bus>> open_bus(const Options& options, observe::Diagnostics& diag);

} // namespace sluice::connector::kafka
