#pragma once

#include <memory>

#include "base/result.h"
#include "connector/redis/options.h"
#include "event/source.h"
#include "observe/diagnostics.h"

namespace sluice::connector::redis {

/// Reads streams, each a partition under its name, as the options say. Does not connect yet: a
/// server that is down is no error. The diagnostics outlive it.
Result<std::unique_ptr<event::Source>> open_source(const Options& options,
                                                   observe::Diagnostics& diagnostics);

} // namespace sluice::connector::redis
