#pragma once

#include <optional>

#include "base/clock.h"
#include "reactor/scheduler.h"
#include "reactor/timer_queue.h"

namespace sluice::reactor {

/// Time that passes when somebody says so, and at no other time: a clock, and what is to be done
/// later. Unlike other schedulers it is for one thread.
class VirtualTime final : public Clock, public Scheduler {
public:
    explicit VirtualTime(Time start) : start_(start) {}

    Time wall() const override { return start_ + passed_; }
    Nanos steady() const override { return passed_; }

    TimerId after(Nanos delay, Task task) override;
    bool cancel(TimerId id) override { return queue_.remove(id); }

    /// Does one thing that is due; false when nothing is.
    bool step();
    /// Until something is due; nothing: it never is.
    std::optional<Nanos> until_next() const;
    void advance(Nanos by) { passed_ += by; }

private:
    Time start_;
    Nanos passed_{0};
    TimerQueue queue_;
};

} // namespace sluice::reactor
