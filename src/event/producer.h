#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace sluice::event {

/// An event on its way to a bus.
struct Outgoing {
    std::string to;   ///< Partition, topic, subject, stream or queue: the bus's word for it.
    std::string key;  ///< The same however often it is sent: a bus that can drops the second.
    std::string json; ///< The event, structured.
};

/// Puts events on a bus, many at a time. May be used from any thread.
class Producer {
public:
    using Done = std::move_only_function<void(Result<void>)>;

    virtual ~Producer() = default;
    /// Returns at once, or waits while too much is under way. `done` is called exactly once, from
    /// any thread, when the broker has said that it has the event, or it cannot be had: Unavailable
    /// when trying again may help. What goes to the same place arrives in order; over a lost
    /// connection it may arrive twice.
    virtual void send(Outgoing event, Done done) = 0;
    /// Until everything sent is confirmed or refused, at most this long. Unavailable when it was
    /// not.
    virtual Result<void> flush(Nanos wait) = 0;
};

} // namespace sluice::event
