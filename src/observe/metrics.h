#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace sluice::observe {

namespace internal {
/// A number of the calling thread; neighbouring threads have different ones.
std::size_t thread_number();
} // namespace internal

/// Counts what happened. Threads add to cells of their own, so that they do not wait for each
/// other.
class Counter {
public:
    void add(std::uint64_t count = 1) {
        cells_[internal::thread_number() % cells_.size()].count.fetch_add(
            count, std::memory_order_relaxed);
    }
    std::uint64_t value() const;

private:
    struct alignas(64) Cell {
        std::atomic<std::uint64_t> count{0};
    };
    std::array<Cell, 8> cells_;
};

/// How much there is of something now.
class Gauge {
public:
    void set(std::int64_t value) { value_.store(value, std::memory_order_relaxed); }
    void add(std::int64_t difference) { value_.fetch_add(difference, std::memory_order_relaxed); }
    std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::int64_t> value_{0};
};

/// What one would watch: counters and gauges by name.
///
/// Look one up once and keep the reference, which stays good as long as the metrics do; counting
/// then costs a relaxed addition. May be called from any thread.
class Metrics {
public:
    /// The same name gives the same counter. A name is a counter or a gauge, never both.
    Counter& counter(std::string_view name);
    Gauge& gauge(std::string_view name);

    std::map<std::string, std::int64_t> snapshot() const;

private:
    mutable std::mutex mutex_;
    std::map<std::string, Counter, std::less<>> counters_;
    std::map<std::string, Gauge, std::less<>> gauges_;
};

} // namespace sluice::observe
