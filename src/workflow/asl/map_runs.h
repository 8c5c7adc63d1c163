#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "trigger/history.h"
#include "trigger/state.h"
#include "value/value.h"

namespace sluice::workflow::asl {

/// How many items or executions of a map run stand where.
struct MapRunCounts {
    std::uint64_t total = 0;
    std::uint64_t running = 0;
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
    std::uint64_t aborted = 0;
    std::uint64_t pending_redrive = 0;
    std::uint64_t not_redrivable = 0; ///< Of those that failed or were aborted.
    std::uint64_t pending() const;
};

struct MapRun {
    std::string arn;
    std::uint64_t event = 0; ///< That tells of its start, or of its last redrive.
    std::string status = "RUNNING";
    Time started{};
    std::optional<Time> ended{};
    std::uint64_t redrives = 0;
    std::optional<Time> redriven{};   ///< Last.
    std::int64_t concurrency_max = 0; ///< Zero: no limit.
    std::int64_t tolerated_count = 0;
    double tolerated_percentage = 0;
    bool is_written = false; ///< Its results are where its writer puts them.
    MapRunCounts items{};
    MapRunCounts executions{};
};

/// The map runs of an execution: like its history, told while the run is decided again. Nothing is
/// kept of their children but counts.
class MapRuns final : public trigger::Listener {
public:
    MapRuns() = default;
    /// Of a child of a distributed map, by its name.
    explicit MapRuns(std::string child) : child_(std::move(child)) {}

    void hear(const trigger::Moment& moment, const Value& told) override;
    bool cares_for(std::string_view part) const override { return part == child_; }
    /// The end of a run that was stopped from outside or took too long ends its map runs.
    void close(const trigger::RunProgress& progress);

    const std::vector<MapRun>& all() const { return runs_; }
    /// `MACHINE/LABEL` of the child, if its map run was heard of.
    const std::string& child_machine() const { return child_machine_; }

private:
    void hear_event(const trigger::Moment& moment, const Value& told);

    std::string child_; ///< Empty: the run's own.
    std::string child_machine_;
    std::vector<MapRun> runs_;
};

} // namespace sluice::workflow::asl
