#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/catalog.h"
#include "engine/checkpoint.h"
#include "engine/keys.h"
#include "engine/run_index.h"
#include "store/store.h"
#include "trigger/history.h"
#include "trigger/run_triggers.h"
#include "trigger/state.h"

namespace sluice::engine {

/// A run in memory, with what the batch being decided did to it.
struct AwakeRun {
    RunName name;
    std::unique_ptr<trigger::RunState> state;
    std::unique_ptr<trigger::RunTriggers> triggers;
    trigger::Journal journal;
    std::uint64_t first_event = 0;            ///< Of this batch.
    std::optional<RunSummary> listed;         ///< As it stands in the run index.
    std::optional<CheckpointMark> checkpoint; ///< The last one, once it was looked for.
    bool needs_checkpoint = false;            ///< A generation began with this batch.
    bool is_touched = false;                  ///< By this batch.
    bool is_listed_ready = false;             ///< Has a key among those with work.
    std::uint64_t last_commit = 0;            ///< That wrote it.
    bool is_settled = false;                  ///< It has ended, and is among those that have.
    std::list<AwakeRun*>::iterator place;     ///< Among its like by last use.
};

/// The runs of a shard that are awake: those with something to do, and those that had lately. The
/// rest cost disk only.
class AwakeRuns {
public:
    AwakeRuns(ShardId shard, store::Store& store, Catalog& catalog, std::size_t runs_max)
        : shard_(shard), store_(store), catalog_(catalog), runs_max_(runs_max) {}

    /// Wakes it if need be; null when there is no such run.
    Result<AwakeRun*> find(const RunName& run);
    /// A run that does not exist yet, pinned to a trigger set (by hash; empty: none).
    Result<AwakeRun*> create(const RunName& run, const std::string& set);
    void remove(const RunName& run);
    /// Its keys are gone with this commit, though the store may still show them until then.
    void bury(const RunName& run, std::uint64_t commit) { buried_[run] = commit; }
    /// What a batch did to it is written.
    void note_written(AwakeRun& run, std::uint64_t commit);
    /// Lets those go that were not used lately, if all they did is durable. Few that have ended are
    /// kept: they are asked how they ended soon, or not at all, and runs that follow find their
    /// memory still warm.
    void shrink(std::uint64_t synced_commit);
    /// After a failed commit: nothing that was decided since counts.
    void drop_all();

    std::size_t size() const { return runs_.size(); }

private:
    AwakeRun* insert(const RunName& run, std::unique_ptr<trigger::RunState> state,
                     std::shared_ptr<const trigger::TriggerSet> set);
    void remove(AwakeRun& run);
    std::unique_ptr<AwakeRun> take_spare();
    void keep_spare(std::unique_ptr<AwakeRun> run);
    std::list<AwakeRun*>& list_of(const AwakeRun& run) {
        return run.is_settled ? settled_by_use_ : by_use_;
    }
    void shrink(std::list<AwakeRun*>& list, std::size_t most, std::uint64_t synced_commit);
    Result<std::shared_ptr<const trigger::TriggerSet>> set_of(const std::string& hash);

    ShardId shard_;
    store::Store& store_;
    Catalog& catalog_;
    std::size_t runs_max_;
    boost::unordered_flat_map<std::string, std::unique_ptr<AwakeRun>>
        runs_;                                     ///< By namespace, zero byte, id.
    std::map<RunName, std::uint64_t> buried_;      ///< Until that commit is synced.
    std::list<AwakeRun*> by_use_;                  ///< Least lately used first.
    std::list<AwakeRun*> settled_by_use_;          ///< Those that have ended, likewise.
    std::vector<std::unique_ptr<AwakeRun>> spare_; ///< Empty: memory for those to come.
};

} // namespace sluice::engine
