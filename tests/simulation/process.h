#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "action_log.h"
#include "base/invariant.h"
#include "base/random.h"
#include "engine/catalog.h"
#include "engine/dispatcher.h"
#include "engine/lane.h"
#include "functions.h"
#include "reactor/scheduler.h"
#include "store/testing/simulated_store.h"
#include "timeline.h"
#include "workload.h"

namespace sluice::simulation {

/// What a process is started with; the same in each of its lives.
struct ProcessOptions {
    std::size_t lanes = 1;
    trigger::DecideLimits limits;
    engine::LaneLimits lane_limits;
    std::size_t awake_runs_max = 100;
    std::uint64_t checkpoint_events = 10'000;
};

/// The functions here have no rates, which are all that a dispatcher waits for.
class NoTimers final : public reactor::Scheduler {
public:
    reactor::TimerId after(Nanos, Task) override {
        INVARIANT(false, "a function of the simulation has a rate");
        return {};
    }
    bool cancel(reactor::TimerId) override { return false; }
};

/// One life of an engine without threads: lanes, each with its mailbox, stepped one at a time in an
/// order that the seed draws. Commits are made at once, or wait, so that the next batch is decided
/// meanwhile; what became of one is heard later still.
class Process final : private engine::Committer {
public:
    Process(store::testing::SimulatedStore& store, Timeline& timeline, Random& random,
            ActionLog& log, Functions& functions, const ProcessOptions& options);

    /// As Engine::open does it.
    Result<void> open();
    void post(engine::Input&& input);

    /// One thing that can be done now; false when there is none.
    bool step();
    /// Lets each lane look what is due.
    void wake();
    /// Time until there is something to do, if nothing comes.
    std::optional<Nanos> until_next();
    bool has_stopped() const { return has_stopped_; }
    engine::Catalog& catalog() { return catalog_; }

private:
    struct Work {
        std::unique_ptr<engine::Commit> commit;
        Done done;
        Result<void> result;
    };
    struct Place {
        std::unique_ptr<engine::Lane> lane;
        std::deque<engine::Input> mail;
    };

    void submit(std::unique_ptr<engine::Commit> commit, Done done) override;
    Result<void> commit_here(engine::Commit& commit) override;

    engine::LaneOutputs outputs();
    void step_lane(std::size_t at);
    void commit_next();
    void return_next();

    store::testing::SimulatedStore& store_;
    Timeline& timeline_;
    Random& random_;
    ActionLog& log_;
    ProcessOptions options_;
    trigger::Vocabulary vocabulary_ = make_vocabulary();
    observe::NullDiagnostics diagnostics_;
    engine::Catalog catalog_;
    NoTimers no_timers_;
    engine::Dispatcher dispatcher_;
    std::vector<Place> places_;
    std::deque<Work> to_commit_;
    std::deque<Work> to_return_;
    bool has_stopped_ = false;
};

} // namespace sluice::simulation
