#pragma once

#include <cstdint>
#include <functional>

#include "base/clock.h"
#include "base/strong.h"

namespace sluice::reactor {

using TimerId = Strong<struct TimerTag, std::uint64_t>;

/// Does things later. All members may be called from any thread, also from a task.
class Scheduler {
public:
    using Task = std::move_only_function<void()>;

    virtual ~Scheduler() = default;
    /// Runs the task once, when `delay` has passed. It must be quick.
    virtual TimerId after(Nanos delay, Task task) = 0;
    /// True when the task will not run; false when it has run or is running now.
    virtual bool cancel(TimerId id) = 0;
};

} // namespace sluice::reactor
