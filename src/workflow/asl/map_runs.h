#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "trigger/history.h"
#include "trigger/state.h"
#include "value/value.h"

namespace sluice::workflow::asl {

/// A child of a distributed map, which the service shows as an execution.
struct ChildExecution {
    std::string name;
    std::string status; ///< `RUNNING`, `SUCCEEDED`, `FAILED`, `ABORTED`
    Time started{};
    std::optional<Time> ended{};
    std::uint64_t items = 1;
};

/// How many items or executions of a map run stand where.
struct MapRunCounts {
    std::uint64_t total = 0;
    std::uint64_t running = 0;
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
    std::uint64_t aborted = 0;
    std::uint64_t pending() const;
};

struct MapRun {
    std::string arn;
    std::uint64_t event = 0; ///< That tells of its start.
    std::string status = "RUNNING";
    Time started{};
    std::optional<Time> ended{};
    std::int64_t concurrency_max = 0; ///< Zero: no limit.
    std::int64_t tolerated_count = 0;
    double tolerated_percentage = 0;
    bool is_written = false; ///< Its results are where its writer puts them.
    MapRunCounts items{};
    MapRunCounts executions{};
    std::vector<ChildExecution> children{}; ///< By index.
};

/// The map runs of an execution: like its history, told while the run is decided again.
class MapRuns final : public trigger::Listener {
public:
    void hear(const trigger::Moment& moment, const Value& told) override;
    /// The end of a run that was stopped from outside or took too long ends its map runs.
    void close(const trigger::RunProgress& progress);

    const std::vector<MapRun>& all() const { return runs_; }

private:
    void hear_child(MapRun& run, const trigger::Moment& moment, const Value& told);

    std::vector<MapRun> runs_;
};

} // namespace sluice::workflow::asl
