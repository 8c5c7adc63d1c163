#include "reactor/timer_thread.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <sys/prctl.h>

#include "reactor/thread.h"

namespace sluice::reactor {
namespace {

using SteadyClock = std::chrono::steady_clock;

Nanos steady_now() {
    return SteadyClock::now().time_since_epoch();
}

} // namespace

TimerThread::TimerThread()
    : thread_(start_thread("timers", [this](std::stop_token stop) { run(stop); })) {}

TimerThread::~TimerThread() {
    thread_.request_stop();
    thread_.join();
}

TimerId TimerThread::after(Nanos delay, Task task) {
    auto lock = std::lock_guard{mutex_};
    auto moment = steady_now();
    auto due = moment + std::min(delay, Nanos::max() - moment);
    auto is_first = due < queue_.next_due().value_or(Nanos::max());
    auto id = queue_.add(due, std::move(task));
    if (is_first) {
        changed_.notify_one();
    }
    return id;
}

bool TimerThread::cancel(TimerId id) {
    auto lock = std::lock_guard{mutex_};
    return queue_.remove(id);
}

void TimerThread::run(const std::stop_token& stop) {
    // The kernel may otherwise wake it 50 µs late, at each step of a run that waits.
    ::prctl(PR_SET_TIMERSLACK, 1UL);
    auto lock = std::unique_lock{mutex_};
    while (!stop.stop_requested()) {
        if (auto task = queue_.take_due(steady_now())) {
            lock.unlock();
            task();
            lock.lock();
            continue;
        }
        auto next = queue_.next_due().value_or(Nanos::max());
        changed_.wait_until(lock, stop, SteadyClock::time_point{next},
                            [&] { return queue_.next_due().value_or(Nanos::max()) < next; });
    }
}

} // namespace sluice::reactor
