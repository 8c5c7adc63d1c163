#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "engine/keys.h"
#include "store/store.h"
#include "trigger/arrival.h"

namespace sluice::engine {

struct DueTimer {
    RunName run;
    trigger::TimerNumber number;
};

/// When a shard's timers are due. The store has them all, in order; here are only the next ones, so
/// that millions cost disk only.
class Timers {
public:
    Timers(ShardId shard, const store::Store& store) : shard_(shard), store_(store) {}

    /// One that the commit being decided sets.
    void add(const RunName& run, trigger::TimerNumber number, bool is_absolute, Time due,
             std::uint64_t commit);
    /// What was set up to this commit can be read from the store.
    void confirm_synced(std::uint64_t commit);
    /// Takes those that are due. The run decides whether each still stands. Reads the next ones
    /// from the store when those at hand are used up.
    Result<std::vector<DueTimer>> take_due(const trigger::Moment& now, std::size_t most);
    /// How long until the next is due; nothing when there is none.
    std::optional<Nanos> until_next(const trigger::Moment& now) const;
    /// After a restart.
    Result<void> load();

private:
    using Place = std::tuple<Time, RunName, trigger::TimerNumber>;
    struct Domain {
        std::set<Place> next;
        /// Set lately: what lies beyond the horizon is not in the store for sure before its commit
        /// is synced.
        std::deque<std::pair<std::uint64_t, Place>> unsynced;
        /// Timers behind this are only in the store; nothing: all are at hand.
        std::optional<Time> horizon;
    };

    Result<void> fill(keys::TimeDomain domain);

    ShardId shard_;
    const store::Store& store_;
    std::array<Domain, 2> domains_;
};

} // namespace sluice::engine
