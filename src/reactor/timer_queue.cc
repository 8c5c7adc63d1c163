#include "reactor/timer_queue.h"

namespace sluice::reactor {

TimerId TimerQueue::add(Nanos due, Scheduler::Task task) {
    auto id = TimerId{++last_id_};
    tasks_.emplace(std::pair{due, id}, std::move(task));
    due_.emplace_hint(due_.end(), id, due);
    return id;
}

bool TimerQueue::remove(TimerId id) {
    auto found = due_.find(id);
    if (found == due_.end()) {
        return false;
    }
    tasks_.erase({found->second, id});
    due_.erase(found);
    return true;
}

std::optional<Nanos> TimerQueue::next_due() const {
    if (tasks_.empty()) {
        return std::nullopt;
    }
    return tasks_.begin()->first.first;
}

Scheduler::Task TimerQueue::take_due(Nanos now) {
    if (tasks_.empty() || tasks_.begin()->first.first > now) {
        return {};
    }
    auto first = tasks_.extract(tasks_.begin());
    due_.erase(first.key().second);
    return std::move(first.mapped());
}

} // namespace sluice::reactor
