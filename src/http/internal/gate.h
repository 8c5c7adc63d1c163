#pragma once

#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include <boost/asio/post.hpp>

#include "http/internal/asio.h"

namespace sluice::http::internal {

/// The way into a loop, also for threads that do not know whether it still turns.
class Gate {
public:
    explicit Gate(asio::io_context& loop) : loop_(&loop) {}

    /// On the loop's thread, before it does anything; others may knock already.
    void open() { thread_ = std::this_thread::get_id(); }
    /// What comes from now on is dropped.
    void shut() {
        auto lock = std::lock_guard{mutex_};
        loop_ = nullptr;
    }

    /// Does it on the loop's thread: at once when that is where we are.
    template <typename Work>
    void enter(Work work) {
        if (std::this_thread::get_id() == thread_) {
            work();
            return;
        }
        auto lock = std::lock_guard{mutex_};
        if (loop_ != nullptr) {
            asio::post(*loop_, std::move(work));
        }
    }

private:
    std::mutex mutex_;
    asio::io_context* loop_;
    std::atomic<std::thread::id> thread_;
};

} // namespace sluice::http::internal
