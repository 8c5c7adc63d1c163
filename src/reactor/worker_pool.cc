#include "reactor/worker_pool.h"

#include <utility>

#include "reactor/thread.h"

namespace sluice::reactor {

WorkerPool::WorkerPool(const std::string& name, WorkerPoolOptions options) : options_(options) {
    for (auto at = std::size_t{0}; at < options_.threads; ++at) {
        threads_.push_back(start_thread(name, [this](const std::stop_token& stop) { run(stop); }));
    }
}

WorkerPool::~WorkerPool() {
    stop();
}

bool WorkerPool::try_post(Task task) {
    {
        auto lock = std::lock_guard{mutex_};
        if (has_stopped_ || tasks_.size() >= options_.tasks_max) {
            return false;
        }
        tasks_.push_back(std::move(task));
    }
    arrived_.notify_one();
    return true;
}

void WorkerPool::stop() {
    auto dropped = std::deque<Task>{};
    {
        auto lock = std::lock_guard{mutex_};
        has_stopped_ = true;
        dropped.swap(tasks_);
    }
    dropped.clear();
    threads_.clear();
}

void WorkerPool::run(const std::stop_token& stop) {
    while (true) {
        auto task = Task{};
        {
            auto lock = std::unique_lock{mutex_};
            if (!arrived_.wait(lock, stop, [this] { return !tasks_.empty(); })) {
                return;
            }
            task = std::move(tasks_.front());
            tasks_.pop_front();
        }
        task();
    }
}

} // namespace sluice::reactor
