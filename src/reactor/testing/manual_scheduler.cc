#include "reactor/testing/manual_scheduler.h"

#include <algorithm>
#include <utility>

namespace sluice::reactor::testing {

TimerId ManualScheduler::after(Nanos delay, Task task) {
    auto lock = std::lock_guard{mutex_};
    return queue_.add(now_ + std::min(delay, Nanos::max() - now_), std::move(task));
}

bool ManualScheduler::cancel(TimerId id) {
    auto lock = std::lock_guard{mutex_};
    return queue_.remove(id);
}

void ManualScheduler::advance(Nanos duration) {
    auto lock = std::unique_lock{mutex_};
    auto end = now_ + duration;
    while (auto due = queue_.next_due()) {
        if (*due > end) {
            break;
        }
        now_ = std::max(now_, *due);
        auto task = queue_.take_due(now_);
        lock.unlock();
        task();
        lock.lock();
    }
    now_ = end;
}

bool ManualScheduler::is_idle() const {
    auto lock = std::lock_guard{mutex_};
    return !queue_.next_due().has_value();
}

} // namespace sluice::reactor::testing
