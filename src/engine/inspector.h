#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/catalog.h"
#include "engine/checkpoint.h"
#include "engine/keys.h"
#include "engine/run_index.h"
#include "store/store.h"
#include "trigger/decider.h"
#include "trigger/history.h"
#include "trigger/state.h"

namespace sluice::engine {

/// Reads what a store holds, without an engine: runs, their state, history and definitions. Needs
/// read access only.
class Inspector {
public:
    Inspector(store::Store& store, const trigger::Vocabulary& vocabulary)
        : store_(store), catalog_(store, vocabulary) {}

    /// A page of the run index, newest first.
    Result<RunPage> list(const RunFilter& filter) const { return list_runs(store_, filter); }
    /// Names of the definitions that runs of this status have.
    Result<std::vector<std::string>> definitions(const std::string& space,
                                                 trigger::Status status) const {
        return listed_definitions(store_, space, status);
    }
    /// NotFound when there is no such run.
    Result<std::unique_ptr<trigger::RunState>> run(const RunName& run) const;
    /// How far a run is, without the rest of it; nothing when there is no such run.
    Result<std::optional<trigger::RunProgress>> progress(const RunName& run) const;
    /// Every event of a run that is kept, in the order it was decided. Stops early when `use`
    /// returns false.
    Result<void> read_history(const RunName& run,
                              const std::function<bool(const trigger::Entry&)>& use,
                              trigger::EventNumber from = trigger::EventNumber{0}) const;
    /// The first event whose history is kept; nothing when there is none.
    Result<std::optional<trigger::EventNumber>> first_event(const RunName& run) const;
    /// The last checkpoint at or before an event.
    Result<std::optional<Checkpoint>> checkpoint(const RunName& run,
                                                 trigger::EventNumber event) const {
        return checkpoint_at(store_, shard(run), run, event);
    }
    /// The trigger set of a run with what was changed at run time: id, spec form, state per scope.
    Result<Value> triggers(const RunName& run);
    /// The id of a trigger by its number in a run; "(command)" for commands.
    Result<std::function<std::string(trigger::TriggerNumber)>> trigger_names(const RunName& run);

    Catalog& catalog() { return catalog_; }

private:
    Result<std::string> history_key(const RunName& run, trigger::EventNumber event) const;
    ShardId shard(const RunName& run) const { return shard_of(run, store_.shard_count()); }

    store::Store& store_;
    Catalog catalog_;
};

/// A difference between what was recorded and what this software decides.
struct Difference {
    trigger::EventNumber event;
    std::string what;
};

struct ReplayReport {
    std::uint64_t events = 0;
    std::uint64_t from = 0; ///< The checkpoint that it began at, by its event; 0: the first event.
    std::vector<Difference> differences; ///< At most 20; `difference_count` has all.
    std::uint64_t difference_count = 0;
    bool is_same_software = true; ///< Otherwise differences are changes, not damage.
};

/// Decides a run's history again and compares, event by event: all that is kept, or from the last
/// checkpoint at or before an event. The limits must be those it was decided with.
///
/// Ids seen before a checkpoint are not part of it: what was a duplicate of one is taken as such.
/// A listener hears what the run's language tells of the decisions.
Result<ReplayReport> replay(Inspector& inspector, const RunName& run,
                            const trigger::DecideLimits& limits,
                            trigger::EventNumber from = trigger::EventNumber{0},
                            trigger::Listener* listener = nullptr);

/// The last event of a run before the one that it succeeded with. Conflict when it has not
/// succeeded.
Result<trigger::EventNumber> event_before_success(const Inspector& inspector, const RunName& run);

/// The state a run had right after this event, from what history recorded: needs none of the code
/// that decided it.
struct PastState {
    std::unique_ptr<trigger::RunState> state;
    trigger::Moment moment; ///< When the event was decided.
};
Result<PastState> state_at(const Inspector& inspector, const RunName& run,
                           trigger::EventNumber event);

} // namespace sluice::engine
