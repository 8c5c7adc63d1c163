#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "value/value.h"

namespace sluice::app {

/// Repeated measurements of one thing.
class Samples {
public:
    void add(double sample) { samples_.push_back(sample); }
    bool is_empty() const { return samples_.empty(); }
    std::size_t size() const { return samples_.size(); }
    double median() const;
    /// Largest less smallest, as a share of the median.
    double spread() const;

private:
    std::vector<double> samples_;
};

/// What a workload showed; what it did not measure is left out of the report.
struct BenchFigures {
    std::uint64_t events = 0;
    std::uint64_t fired = 0;
    std::uint64_t commits = 0;
    Samples events_per_second;
    Samples cpu_us_per_event; ///< Of this process: steadier than the rate where others run too.
    Samples step_us;
    Samples elapsed_ms;
    Samples restart_ms;
    Samples ceiling_events_per_second;
    Samples ceiling_store_events_per_second;
    Samples ceiling_sync_us;
    Samples noop_over_join;
    Samples latency_us;
    Samples ceiling_group_events_per_second;
    Samples ceiling_position_events_per_second;
    Samples ceiling_bare_events_per_second; ///< Reading, looking and committing with no engine.
    Samples ceiling_round_trip_us;
    std::uint64_t rss_bytes = 0;
    std::uint64_t disk_bytes = 0;
};

std::uint64_t resident_bytes();
/// That this process has had on all cores.
double cpu_seconds();
Value to_value(const BenchFigures& figures, const std::string& workload,
               const std::string& durability);
std::string to_table(const Value& report);

} // namespace sluice::app
