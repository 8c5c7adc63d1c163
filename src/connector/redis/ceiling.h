#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "connector/redis/options.h"
#include "event/bus.h"

namespace sluice::connector::redis {

/// Reads so many entries from the beginning of a stream, as fast as the client can, and throws them
/// away: by position, and as a group that acknowledges.
Result<event::Ceiling> measure_ceiling(const Options& options, const std::string& stream,
                                       std::uint64_t events);

} // namespace sluice::connector::redis
