#pragma once

#include <cstdint>

#include "base/result.h"
#include "connector/kafka/options.h"
#include "event/bus.h"
#include "observe/diagnostics.h"

namespace sluice::connector::kafka::internal {

/// How fast a bare client reads so many events of a partition of the bus, in both ways.
Result<event::Ceiling> measure(const Options& options, std::int32_t partition, std::uint64_t events,
                               observe::Diagnostics& diag);

} // namespace sluice::connector::kafka::internal
