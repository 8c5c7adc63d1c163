#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace sluice {

/// So many a second, and so many at once after a pause.
struct Rate {
    double per_second = 0; ///< Zero: no limit.
    double burst = 0;      ///< Less than one: as many as a second has, at least one.

    bool is_set() const { return per_second > 0; }
    bool operator==(const Rate&) const = default;
};

/// Lets through what keeps to a rate: a bucket of tokens, kept as the moment at which it is full
/// again, so that taking is one exchange of a number. May be used from any thread.
class RateLimit {
public:
    explicit RateLimit(Rate rate = {}) : rate_(rate) {}

    /// Zero: taken. Otherwise nothing is, and after so long it may be. More than a burst at once is
    /// let through when the bucket is full, and paid for afterwards.
    Nanos take(Nanos now, std::uint64_t count = 1) {
        if (!rate_.is_set()) {
            return Nanos{0};
        }
        auto cost = cost_of(count);
        auto full = full_at_.load(std::memory_order_relaxed);
        while (true) {
            auto next = std::max(full, now.count()) + cost;
            auto over = next - now.count() - room_for(cost);
            if (over > 0) {
                return Nanos{over};
            }
            if (full_at_.compare_exchange_weak(full, next, std::memory_order_relaxed)) {
                return Nanos{0};
            }
        }
    }

    /// After how long one may be taken, without taking it.
    Nanos wait(Nanos now) const {
        if (!rate_.is_set()) {
            return Nanos{0};
        }
        auto cost = cost_of(1);
        auto full = full_at_.load(std::memory_order_relaxed);
        auto over = std::max(full, now.count()) + cost - now.count() - room_for(cost);
        return Nanos{std::max<std::int64_t>(over, 0)};
    }
    /// Whether it is as good as new.
    bool is_full(Nanos now) const {
        return full_at_.load(std::memory_order_relaxed) <= now.count();
    }

private:
    std::int64_t cost_of(std::uint64_t count) const {
        return static_cast<std::int64_t>(static_cast<double>(count) * interval());
    }
    std::int64_t room_for(std::int64_t cost) const {
        return std::max(static_cast<std::int64_t>(burst() * interval()), cost);
    }
    double interval() const { return 1e9 / rate_.per_second; }
    double burst() const {
        return rate_.burst >= 1 ? rate_.burst : std::max(1.0, rate_.per_second);
    }

    Rate rate_;
    std::atomic<std::int64_t> full_at_{0};
};

} // namespace sluice
