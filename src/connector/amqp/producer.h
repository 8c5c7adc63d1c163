#pragma once

#include <memory>

#include "base/result.h"
#include "connector/amqp/options.h"
#include "event/producer.h"
#include "observe/diagnostics.h"

namespace sluice::connector::amqp {

/// Publishes to `options.exchange`. `Outgoing::to` is the routing key, with the default exchange
/// the name of a queue; when it is empty, `options.routing_key` is.
///
/// Messages are persistent and mandatory: one that no queue takes fails with NotFound. A lost
/// connection is made anew, and what was not confirmed is sent again, in order, until
/// `options.give_up`. `diagnostics` outlives it.
std::unique_ptr<event::Producer> open_producer(const Options& options,
                                               observe::Diagnostics& diagnostics);

} // namespace sluice::connector::amqp
