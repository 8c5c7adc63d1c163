#pragma once

#include <memory>
#include <string>

#include "event/bus.h"
#include "observe/diagnostics.h"
#include "value/value.h"

namespace sluice::app {

/// The bus that a URL names by its scheme: redis, kafka, amqp, nats, and the same with TLS. Fails
/// with InvalidInput for a URL that is none, with Unsupported for a broker that this program was
/// built without. The diagnostics outlive it.
Result<std::unique_ptr<event::Bus>> open_bus(const std::string& url,
                                             observe::Diagnostics& diagnostics);

/// Sources that people set up: the form has `url`, and what the broker's page names.
Result<void> check_broker_source(const Value& form);
Result<std::unique_ptr<event::Source>> open_broker_source(const Value& form,
                                                          observe::Diagnostics& diagnostics);
/// Functions that put an event on a bus: the same. Gives where events go.
Result<std::string> check_broker_sink(const Value& form);
Result<std::unique_ptr<event::Producer>> open_broker_producer(const Value& form,
                                                              observe::Diagnostics& diagnostics);

} // namespace sluice::app
