#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "reactor/internal/spin.h"

namespace sluice::reactor {

/// Why a mailbox's `wait` returned.
enum class Wake : std::uint8_t { Mail, Deadline, Closed };

struct MailboxOptions {
    std::size_t items_max = 65'536;
    /// Waking a sleeping thread costs tens of microseconds; looking for mail this long first often
    /// saves that. Zero: sleep at once.
    Nanos spin_max = std::chrono::microseconds{20};
};

/// Messages from many threads to one, in the order they came.
///
/// The receiver takes everything at once, so that it locks once a batch and not once a message.
/// Only `wait` and `pop_all` are the receiver's; every other member may be called from any thread.
template <typename T>
class Mailbox {
public:
    using Deadline = std::chrono::steady_clock::time_point;

    explicit Mailbox(MailboxOptions options = {}) : options_(options), spin_(options.spin_max) {}

    /// Waits while the mailbox is full, so the receiver itself must not call it. False when it is
    /// closed; the item then stays with the caller, as it does below.
    bool push(T&& item) {
        auto lock = std::unique_lock{mutex_};
        blocked_++;
        room_.wait(lock, [this] { return is_closed() || items_.size() < options_.items_max; });
        blocked_--;
        return put(std::move(lock), std::move(item));
    }

    /// False when the mailbox is full or closed.
    bool try_push(T&& item) {
        auto lock = std::unique_lock{mutex_};
        return items_.size() < options_.items_max && put(std::move(lock), std::move(item));
    }

    /// For answers to what the receiver asked for, which it has bounded itself. False when closed.
    bool push_unbounded(T&& item) { return put(std::unique_lock{mutex_}, std::move(item)); }

    /// Replaces `out` by everything that arrived. Handing in the same vector again saves
    /// allocations. False when nothing had arrived. What came before `close` is still given out.
    bool pop_all(std::vector<T>& out) {
        out.clear();
        if ((state_.load(std::memory_order_acquire) & mail_bit) == 0) {
            return false;
        }
        auto lock = std::unique_lock{mutex_};
        items_.swap(out);
        state_.store(state_.load() & ~mail_bit);
        if (blocked_ > 0) {
            room_.notify_all();
        }
        return true;
    }

    /// Blocks until there is mail, the mailbox is closed and empty, or the deadline has passed.
    Wake wait(Deadline deadline = Deadline::max()) {
        if (state_.load(std::memory_order_acquire) == 0 && !spin_.until(state_, deadline)) {
            sleep(deadline);
        }
        auto state = state_.load(std::memory_order_acquire);
        if ((state & mail_bit) != 0) {
            return Wake::Mail;
        }
        return state == 0 ? Wake::Deadline : Wake::Closed;
    }

    /// Nothing is accepted any more; whoever waits wakes up. Twice is safe.
    void close() {
        auto lock = std::lock_guard{mutex_};
        state_.store(state_.load() | closed_bit);
        arrived_.notify_all();
        room_.notify_all();
    }

    bool is_closed() const { return (state_.load(std::memory_order_acquire) & closed_bit) != 0; }

private:
    static constexpr std::uint8_t mail_bit = 1;
    static constexpr std::uint8_t closed_bit = 2;

    bool put(std::unique_lock<std::mutex> lock, T&& item) {
        if (is_closed()) {
            return false;
        }
        items_.push_back(std::move(item));
        state_.store(mail_bit, std::memory_order_release);
        if (std::exchange(is_asleep_, false)) {
            lock.unlock();
            arrived_.notify_one();
        }
        return true;
    }

    void sleep(Deadline deadline) {
        auto lock = std::unique_lock{mutex_};
        is_asleep_ = state_.load() == 0;
        arrived_.wait_until(lock, deadline, [this] { return state_.load() != 0; });
        is_asleep_ = false;
    }

    const MailboxOptions options_;
    internal::Spin spin_;
    // Written under the lock only; read without it, to see mail before taking the lock.
    alignas(64) std::atomic<std::uint8_t> state_{0};
    alignas(64) std::mutex mutex_;
    std::condition_variable arrived_;
    std::condition_variable room_;
    std::vector<T> items_;
    std::size_t blocked_ = 0;
    bool is_asleep_ = false;
};

} // namespace sluice::reactor
