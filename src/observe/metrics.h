#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"

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

/// How long something took, in buckets from 50 microseconds to a minute.
class Histogram {
public:
    static constexpr auto bounds = std::to_array<std::int64_t>(
        {50'000, 100'000, 200'000, 500'000, 1'000'000, 2'000'000, 5'000'000, 10'000'000, 20'000'000,
         50'000'000, 100'000'000, 200'000'000, 500'000'000, 1'000'000'000, 2'000'000'000,
         5'000'000'000, 10'000'000'000, 30'000'000'000, 60'000'000'000}); ///< Nanoseconds.

    struct Reading {
        std::array<std::uint64_t, bounds.size() + 1> counts{}; ///< Each bucket's own.
        std::uint64_t count = 0;
        double seconds = 0; ///< In all.
    };

    void add(Nanos taken);
    Reading read() const;

private:
    struct alignas(64) Cell {
        std::array<std::atomic<std::uint64_t>, bounds.size() + 1> counts{};
        std::atomic<std::int64_t> nanos{0};
    };
    std::array<Cell, 4> cells_;
};

/// What one would watch: counters, gauges and histograms by name.
///
/// A name may carry labels as Prometheus writes them: `calls_total{function="resize"}`. Look one up
/// once and keep the reference, which stays good as long as the metrics do; counting then costs a
/// relaxed addition. May be called from any thread.
class Metrics {
public:
    /// The same name gives the same counter. A name is of one kind only.
    Counter& counter(std::string_view name);
    Gauge& gauge(std::string_view name);
    Histogram& histogram(std::string_view name);

    /// Counters and gauges.
    std::map<std::string, std::int64_t> snapshot() const;
    /// All of it in the text format of Prometheus, each name behind the prefix.
    std::string to_prometheus(std::string_view prefix) const;

    /// `name{label="value"}`, with what a label may not hold escaped.
    static std::string labelled(
        std::string_view name,
        std::initializer_list<std::pair<std::string_view, std::string_view>> labels);

private:
    mutable std::mutex mutex_;
    std::map<std::string, Counter, std::less<>> counters_;
    std::map<std::string, Gauge, std::less<>> gauges_;
    std::map<std::string, Histogram, std::less<>> histograms_;
};

} // namespace sluice::observe
