#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace sluice::store::embedded {

/// Syncs what relaxed commits left behind, a few milliseconds after the first of them.
class BackgroundSync {
public:
    explicit BackgroundSync(std::function<void()> sync);
    /// Syncs once more when something is left.
    ~BackgroundSync();
    BackgroundSync(const BackgroundSync&) = delete;
    BackgroundSync& operator=(const BackgroundSync&) = delete;

    void mark_dirty();

private:
    void run();

    std::function<void()> sync_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_dirty_ = false;
    bool is_stopping_ = false;
    std::thread thread_;
};

} // namespace sluice::store::embedded
