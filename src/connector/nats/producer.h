#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "connector/nats/options.h"
#include "event/producer.h"
#include "observe/diagnostics.h"

namespace sluice::connector::nats {

/// Where events go.
enum class Target : std::uint8_t {
    Bus,     ///< Streams of our own; what is structured is not marked as such.
    Streams, ///< Of anybody's.
    Core,    ///< Subjects without a stream: confirmed when the server has it, whoever listens.
};

/// Sends to subjects. A key is sent along, and a stream drops the second message of the same key
/// within its window.
///
/// While the connection is away events wait, up to the bounds and the time of the options. One that
/// is given back takes those behind it to the same subject along, so that order holds when they are
/// sent again. The diagnostics outlive it. Fails when the server refuses the login or cannot be
/// trusted; one that is not there is waited for.
Result<std::unique_ptr<event::Producer>> open_producer(const Options& options, Target target,
                                                       observe::Diagnostics& diagnostics);

} // namespace sluice::connector::nats
