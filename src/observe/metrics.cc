#include "observe/metrics.h"

#include "base/invariant.h"

namespace sluice::observe {

std::size_t internal::thread_number() {
    static auto threads = std::atomic<std::size_t>{0};
    thread_local auto number = threads.fetch_add(1, std::memory_order_relaxed);
    return number;
}

std::uint64_t Counter::value() const {
    auto sum = std::uint64_t{0};
    for (const auto& cell : cells_) {
        sum += cell.count.load(std::memory_order_relaxed);
    }
    return sum;
}

Counter& Metrics::counter(std::string_view name) {
    auto lock = std::lock_guard{mutex_};
    INVARIANT(!gauges_.contains(name), "a gauge is no counter");
    return counters_.try_emplace(std::string{name}).first->second;
}

Gauge& Metrics::gauge(std::string_view name) {
    auto lock = std::lock_guard{mutex_};
    INVARIANT(!counters_.contains(name), "a counter is no gauge");
    return gauges_.try_emplace(std::string{name}).first->second;
}

std::map<std::string, std::int64_t> Metrics::snapshot() const {
    auto lock = std::lock_guard{mutex_};
    auto values = std::map<std::string, std::int64_t>{};
    for (const auto& [name, counter] : counters_) {
        values.emplace(name, static_cast<std::int64_t>(counter.value()));
    }
    for (const auto& [name, gauge] : gauges_) {
        values.emplace(name, gauge.value());
    }
    return values;
}

} // namespace sluice::observe
