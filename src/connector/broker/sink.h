#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "event/producer.h"
#include "event/sink.h"
#include "reactor/scheduler.h"

namespace sluice::connector::broker {

/// Where the calls of a function go.
struct Target {
    std::string to; ///< Topic, stream, subject or routing key.
    /// Called with the first event, and again after it failed; may block.
    std::function<Result<std::unique_ptr<event::Producer>>()> open;
};

/// Functions that put events on a bus.
///
/// A call succeeds when the broker has confirmed its event. It fails with `unavailable` when the
/// broker could not be had in time, `refused` when it does not take the event, `invalid_input` when
/// the input is no event, and with `timeout`. An event whose call failed may be on the bus all the
/// same: the next attempt sends it with the same id. May be used from any thread.
class Senders {
public:
    /// Of a function, under way at once.
    static constexpr auto calls_max = std::uint32_t{4096};

    /// The timers outlive it.
    explicit Senders(reactor::Scheduler& timers) : timers_(timers) {}
    ~Senders();

    std::shared_ptr<event::Sink> make(Target target);
    /// Answers what is under way with `unavailable`. Twice is safe.
    void stop();

private:
    class Sender;
    class Sink;

    /// Those whose sinks are gone.
    void sweep();

    reactor::Scheduler& timers_;
    std::mutex mutex_;
    bool has_stopped_ = false;
    std::vector<std::shared_ptr<Sender>> senders_;
};

} // namespace sluice::connector::broker
