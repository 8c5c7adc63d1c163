#pragma once

#include <memory>

#include "base/result.h"
#include "connector/redis/options.h"
#include "event/producer.h"
#include "observe/diagnostics.h"

namespace sluice::connector::redis {

/// Appends to streams, many entries at a time, on a thread of its own. Over a lost connection what
/// was not answered is sent again, in order. The diagnostics outlive it.
Result<std::unique_ptr<event::Producer>> open_producer(const Options& options,
                                                       observe::Diagnostics& diagnostics);

} // namespace sluice::connector::redis
