#pragma once

#include <memory>

#include "base/result.h"
#include "connector/amqp/options.h"
#include "event/source.h"
#include "observe/diagnostics.h"

namespace sluice::connector::amqp {

/// Reads queues; partitions are their names. A source of a form has one, `options.queue`.
///
/// Streams are read by position, which is the offset of a message and 1. Quorum and classic queues
/// have none: what was confirmed is acknowledged, the rest comes again. Does not wait for the
/// broker: while it cannot be reached, `trouble` says so. `diagnostics` outlives it.
std::unique_ptr<event::Source> open_source(const Options& options,
                                           observe::Diagnostics& diagnostics);

} // namespace sluice::connector::amqp
