#pragma once

#include <string>
#include <vector>

#include "bus.h"
#include "clients.h"
#include "engine/inspector.h"
#include "functions.h"
#include "store/store.h"
#include "workload.h"

namespace sluice::simulation {

/// What must hold when the world is quiet again, whatever happened before. Reads the store alone.
class Oracle {
public:
    Oracle(store::Store& store, const std::vector<RunPlan>& plans, const Clients& clients,
           const Functions& functions, const Bus& bus, const trigger::DecideLimits& limits);

    /// Everything that does not hold, one sentence each.
    std::vector<std::string> check();

private:
    template <typename... Args>
    void blame(fmt::format_string<Args...> text, Args&&... args) {
        found_.push_back(fmt::format(text, std::forward<Args>(args)...));
    }

    void check_plan(const RunPlan& plan);
    bool gave_way(const RunPlan& plan, const trigger::RunState& state);
    void check_run(const engine::RunName& run);
    void check_standing(const engine::RunName& run);
    void check_entries(const engine::RunName& run, const std::vector<trigger::Entry>& entries);
    void check_change(const engine::RunName& run, const trigger::Entry& entry,
                      const trigger::Change& change);
    void check_timer(const engine::RunName& run, const trigger::Entry& entry);
    void check_answer(const engine::RunName& run, const trigger::Entry& entry);
    void check_moment(const engine::RunName& run, const trigger::Entry& entry);
    void check_acknowledged();
    void check_outbox(ShardId shard);
    void check_bus();

    store::Store& store_;
    trigger::Vocabulary vocabulary_ = make_vocabulary();
    engine::Inspector inspector_;
    const std::vector<RunPlan>& plans_;
    const Clients& clients_;
    const Functions& functions_;
    const Bus& bus_;
    trigger::DecideLimits limits_;
    std::vector<std::string> found_;

    // Of all runs:
    struct Taken {
        std::uint64_t first = 0; ///< Entries that are neither duplicates nor late.
        std::uint64_t all = 0;
    };
    std::map<std::tuple<std::string, std::string, std::string>, Taken> taken_; ///< Run, source, id.

    /// Of runs of which only some go on to their end.
    struct Rivals {
        Time started{}; ///< Of the newest, of which there may be several.
        bool has_won = false;
        bool has_any_won = false;
    };
    std::map<std::string, Rivals> rivals_; ///< By definition.

    // Of the run being checked:
    std::uint64_t fires_ = 0;
    std::map<std::uint32_t, std::uint64_t> fires_of_;
    std::set<trigger::TaskKey> answered_;
    std::map<trigger::TaskKey, std::uint32_t> attempts_;
    trigger::Moment last_;
    std::map<trigger::TimerNumber, trigger::TimerState> timers_;
};

} // namespace sluice::simulation
