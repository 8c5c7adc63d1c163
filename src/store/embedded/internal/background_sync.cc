#include "store/embedded/internal/background_sync.h"

#include <chrono>
#include <utility>

namespace sluice::store::embedded {
namespace {

constexpr auto sync_after = std::chrono::milliseconds{5};

} // namespace

BackgroundSync::BackgroundSync(std::function<void()> sync)
    : sync_(std::move(sync)), thread_([this] { run(); }) {}

BackgroundSync::~BackgroundSync() {
    {
        auto lock = std::lock_guard{mutex_};
        is_stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

void BackgroundSync::mark_dirty() {
    {
        auto lock = std::lock_guard{mutex_};
        if (std::exchange(is_dirty_, true)) {
            return;
        }
    }
    changed_.notify_one();
}

void BackgroundSync::run() {
    auto lock = std::unique_lock{mutex_};
    while (true) {
        changed_.wait(lock, [this] { return is_dirty_ || is_stopping_; });
        if (!is_dirty_) {
            return;
        }
        changed_.wait_for(lock, sync_after, [this] { return is_stopping_; });
        is_dirty_ = false;
        lock.unlock();
        sync_();
        lock.lock();
    }
}

} // namespace sluice::store::embedded
