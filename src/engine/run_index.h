#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/keys.h"
#include "store/store.h"
#include "trigger/state.h"

namespace sluice::engine {

/// The label under which nested runs are listed: its value is the run that started them.
inline constexpr auto parent_label = std::string_view{"sluice.parent"};

/// What lists show of a run, as it stands in the run index.
struct RunSummary {
    std::string definition;
    trigger::Status status = trigger::Status::Running;
    Time started{};
    std::optional<Time> ended;
    Value labels;
    std::string parent; ///< The run that started it; empty: none did.

    template <typename Archive>
    void fields(Archive& archive) {
        archive("definition", definition)("status", status)("started", started)("ended", ended)(
            "labels", labels)("parent", parent);
    }
};

RunSummary summary_of(const trigger::RunState& state);

/// The run index lists every run in each part that it belongs to: all runs, those of its
/// definition, those with each of its labels, and with both. So any filter is one range for each
/// shard and status, however many runs there are.
void put_listed(const RunSummary& summary, ShardId shard, const RunName& run, store::Batch& batch);
/// The summary it was put with.
void remove_listed(const RunSummary& summary, ShardId shard, const RunName& run,
                   store::Batch& batch);

/// Standing runs are listed apart from those that somebody started.
enum class RunsListed : std::uint8_t { Started, Standing };

struct RunFilter {
    std::string space = "default";
    RunsListed listed = RunsListed::Started;
    std::optional<trigger::Status> status;
    std::string definition; ///< Empty: any.
    std::string label;      ///< `key=value`; empty: any.
    std::optional<Time> started_since;
    std::optional<Time> started_until; ///< Before it.
    std::optional<Time> ended_since;
    std::optional<Time> ended_until; ///< Before it.
    std::size_t most = 100;
    std::string cursor; ///< From the page before; empty: the first page.
};

struct ListedRun {
    RunName run;
    RunSummary summary;
};

struct RunPage {
    std::vector<ListedRun> runs;
    std::string cursor; ///< For the next page; empty: this is the last.
};

/// A page of runs, those that started last first; with a bound on their end, those that ended last.
///
/// Its time is bounded: where few of the runs that ended within the bounds also started within
/// theirs, a page may have less than was asked for and still be followed by another. Fails with
/// InvalidInput when the label or the cursor is none.
Result<RunPage> list_runs(const store::Store& store, const RunFilter& filter);

/// How many runs have this status, as far as `most`: reads no more than that.
Result<std::size_t> count_runs(const store::Store& store, std::string_view space,
                               trigger::Status status, std::size_t most);

/// Definitions that runs of this status have, by name.
Result<std::vector<std::string>> listed_definitions(const store::Store& store,
                                                    const std::string& space,
                                                    trigger::Status status);

} // namespace sluice::engine
