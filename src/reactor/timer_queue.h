#pragma once

#include <map>
#include <optional>
#include <utility>

#include "reactor/scheduler.h"

namespace sluice::reactor {

/// Tasks by the moment they are due, and among equals in the order they were added. Needs no clock.
class TimerQueue {
public:
    TimerId add(Nanos due, Scheduler::Task task);
    /// Whether it was there.
    bool remove(TimerId id);
    std::optional<Nanos> next_due() const;
    /// The first task due at `now` or before, taken out; empty when there is none.
    Scheduler::Task take_due(Nanos now);

private:
    std::map<std::pair<Nanos, TimerId>, Scheduler::Task> tasks_;
    std::map<TimerId, Nanos> due_;
    std::uint64_t last_id_ = 0;
};

} // namespace sluice::reactor
