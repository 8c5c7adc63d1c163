#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sluice::reactor {

struct WorkerPoolOptions {
    std::size_t threads = 2;
    std::size_t tasks_max = 1'000; ///< That wait; beyond, none is taken.
};

/// Threads for what blocks, so that those that must not do not. Destroyed, it drops the tasks that
/// have not begun.
class WorkerPool {
public:
    using Task = std::move_only_function<void()>;

    explicit WorkerPool(const std::string& name, WorkerPoolOptions options = {});
    ~WorkerPool();

    /// From any thread. False when too many wait already, or it has stopped: the task is dropped.
    bool try_post(Task task);
    /// Finishes what has begun and drops the rest. Twice is safe.
    void stop();

private:
    void run(const std::stop_token& stop);

    const WorkerPoolOptions options_;
    std::mutex mutex_;
    std::condition_variable_any arrived_;
    std::deque<Task> tasks_;
    bool has_stopped_ = false;
    std::vector<std::jthread> threads_;
};

} // namespace sluice::reactor
