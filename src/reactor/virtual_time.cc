#include "reactor/virtual_time.h"

#include <algorithm>
#include <utility>

namespace sluice::reactor {

TimerId VirtualTime::after(Nanos delay, Task task) {
    return queue_.add(passed_ + delay, std::move(task));
}

bool VirtualTime::step() {
    auto task = queue_.take_due(passed_);
    if (!task) {
        return false;
    }
    task();
    return true;
}

std::optional<Nanos> VirtualTime::until_next() const {
    auto due = queue_.next_due();
    return due ? std::optional{std::max(Nanos{0}, *due - passed_)} : std::nullopt;
}

} // namespace sluice::reactor
