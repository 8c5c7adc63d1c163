#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "reactor/timer_queue.h"

namespace sluice::reactor {

/// A scheduler with a thread of its own. Destroyed, it drops the tasks that are not due yet.
class TimerThread final : public Scheduler {
public:
    TimerThread();
    ~TimerThread() override;

    TimerId after(Nanos delay, Task task) override;
    bool cancel(TimerId id) override;

private:
    void run(const std::stop_token& stop);

    std::mutex mutex_;
    std::condition_variable_any changed_;
    TimerQueue queue_;
    std::jthread thread_;
};

} // namespace sluice::reactor
