#pragma once

#include <mutex>

#include "reactor/timer_queue.h"

namespace sluice::reactor::testing {

/// A scheduler whose time passes only when a test says so; tasks run inside `advance`.
class ManualScheduler final : public Scheduler {
public:
    TimerId after(Nanos delay, Task task) override;
    bool cancel(TimerId id) override;

    void advance(Nanos duration);
    bool is_idle() const;

private:
    mutable std::mutex mutex_;
    Nanos now_{0};
    TimerQueue queue_;
};

} // namespace sluice::reactor::testing
