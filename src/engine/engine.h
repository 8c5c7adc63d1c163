#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/strong.h"
#include "engine/catalog.h"
#include "engine/dispatcher.h"
#include "engine/feed.h"
#include "engine/input.h"
#include "engine/lane.h"
#include "engine/references.h"
#include "event/source.h"
#include "observe/diagnostics.h"
#include "observe/metrics.h"
#include "store/store.h"
#include "trigger/trigger_set.h"

namespace sluice::engine {

/// What an engine needs where several processes share a store.
struct Sharing {
    /// Input for a shard that is not here, from any thread.
    std::function<void(Input&&)> elsewhere;
    /// How events travel, so that they reach their shards wherever those are.
    std::function<void(std::string space, std::vector<event::Event> events, Accepted done)> send;
    /// A way for what one reading of a source brings: to each shard in order, wherever it is.
    std::function<Post()> open_feed;
    /// Another process has one of the shards of a lane; it has none of them any more.
    std::function<void(const std::vector<ShardId>&, const Error&)> lost;
};

struct EngineOptions {
    std::uint32_t lanes = 1; ///< Threads that decide.
    /// Given: it owns no shard until it adopts some. Nothing: it takes over the whole store.
    std::optional<Sharing> sharing{};
    std::map<std::string, Function> functions; ///< For every namespace.
    /// Those that a namespace has of its own: they go before.
    std::map<std::string, std::map<std::string, Function>> functions_by_space{};
    trigger::DecideLimits limits;
    LaneLimits lane_limits;
    std::size_t awake_runs_max = 10'000; ///< In all.
    Nanos retention = std::chrono::hours{24 * 30};
    std::uint64_t checkpoint_events =
        10'000; ///< A run is checkpointed after so many, or a little more.
    /// What tokens are sealed with; nothing: the store's own.
    std::optional<Secret> secret;
    /// For results that are large; null: all are kept with their runs. Outlives the engine.
    const References* references = nullptr;
    std::size_t result_bytes_max = 256 * 1024; ///< Above this they are large.
    /// Otherwise calls are decided and left for another engine to make.
    bool calls_functions = true;
    /// Where to note which event is being decided, so that one that stops the process is found;
    /// empty: nowhere.
    std::filesystem::path marker;
    Watch watch;
    AdmitNested admit_nested;            ///< Empty: every nested run begins.
    Catalog::FindMeaning find_meaning{}; ///< Empty: nested runs name what the catalogue has.
    /// Where times are told; null: nowhere. Outlives the engine.
    observe::Metrics* metrics = nullptr;
    /// A commit failed and everything has stopped: the process should end.
    std::function<void(const Error&)> on_stop;
};

struct StartRequest {
    std::string space = "default";
    std::string id; ///< Given by the caller, so that the same start twice is one run.
    std::string definition;
    std::string version; ///< Of it, by its hash; empty: the last.
    Value input;
    bool is_without_input = false; ///< Then it has that of its definition.
    Value labels;
    std::int32_t priority = 0; ///< From -1000 to 1000: see trigger::priority_label.
};

using AwaitId = Strong<struct AwaitTag, std::uint64_t>;

/// What an engine has done since it was opened.
struct EngineStats {
    std::uint64_t events = 0;
    std::uint64_t fired = 0;
    std::uint64_t commits = 0;
    std::uint64_t commit_bytes = 0;
    std::uint64_t quarantined = 0; ///< Events that no run was there for, now.
    std::uint64_t backlog = 0;     ///< Inputs that wait to be decided, at the last commit.
    std::uint64_t outbox = 0;      ///< Commits of which something has not left yet.
    std::uint64_t awake_runs = 0;
};

/// Shards on threads, with everything that reaches them. What it calls back comes on a lane's
/// thread and must be quick.
class Engine {
public:
    /// Takes over the whole store. Store, clock, vocabulary and diagnostics outlive it.
    static Result<std::unique_ptr<Engine>> open(store::Store& store,
                                                const trigger::Vocabulary& vocabulary,
                                                const Clock& clock,
                                                observe::Diagnostics& diagnostics,
                                                EngineOptions options);
    virtual ~Engine() = default;

    virtual Catalog& catalog() = 0;

    /// Each of these is answered when what it did is durable. `start` of a run that exists succeeds
    /// and says so.
    virtual void start(const StartRequest& request, Done done) = 0;
    /// Starts a run, and is answered when it has ended, as by `await`, or when it cannot be
    /// started: one message to its shard where `start` and `await` are two. `started` may be empty.
    virtual AwaitId run(const StartRequest& request, Done started, Done ended) = 0;
    /// A new run that begins as another was right after one of its events.
    virtual void fork(const RunName& run, trigger::EventNumber event, const std::string& id,
                      Done done) = 0;
    /// A new run that begins as one that succeeded was before its last event, and does an action
    /// first: {run}. Conflict for a run that has not succeeded, InvalidInput when the action fails.
    virtual void restart(const RunName& run, const std::string& id, Value action, Done done) = 0;
    virtual void send(std::string space, std::vector<event::Event> events, Accepted done) = 0;
    virtual void command(const RunName& run, std::string type, Value data, Done done) = 0;
    /// Answers the attempt of a task that a token names: {fate}, which is `late` when the attempt
    /// is closed. InvalidInput when the token is not one of this store's.
    virtual void answer(std::string_view token, event::Answer answer, Done done) = 0;
    /// Whether the attempt that a token names is under way, and under this lease (0: any), and who
    /// waits for it now knows: true or false. InvalidInput when the token is not one of this
    /// store's.
    virtual void heartbeat(std::string_view token, std::uint64_t lease, Done done) = 0;
    /// The attempt that a token names. InvalidInput when the token is not one of this store's.
    virtual Result<AttemptId> attempt_of(std::string_view token) const = 0;
    virtual void query(const RunName& run,
                       std::function<Result<Value>(const trigger::RunState*)> read, Done done) = 0;
    /// When the run has ended: {status, result, error}. What the result has by reference is filled
    /// in, on a thread for that.
    virtual AwaitId await(const RunName& run, Done done) = 0;
    /// Nobody waits for that any more: its `done` is not called, unless that is under way.
    virtual void abandon(const RunName& run, AwaitId id) = 0;
    /// A run that ended without success goes on as a new generation: {run, generation}. Fails with
    /// Conflict for any other. What it is told besides are members of the event it goes on with.
    virtual void reopen(const RunName& run, Value told, Done done) = 0;
    /// With all runs that it started. Conflict for one that is running, unless it is to be
    /// terminated.
    virtual void remove(const RunName& run, WhenRunning when_running, Done done) = 0;

    /// From now on the runs of a definition that wait for each other keep to the strategy of its
    /// last version: those that it has room for begin at once.
    virtual void apply_strategy(const std::string& space, const std::string& definition,
                                Done done) = 0;
    /// A standing run, which nobody may need any more.
    virtual void remove_standing(const RunName& run, Done done) = 0;

    /// Reads a source to its end or until it is stopped, by position, with back-pressure. What it
    /// took is durable when it returns. Gives the number of events, without those taken before.
    virtual Result<std::uint64_t> feed(event::Source& source, const FeedOptions& options,
                                       const std::stop_token& stop = {}) = 0;

    /// From any thread. Calls that have begun end as they began, those that wait go to the new one.
    /// An empty namespace stands for all.
    virtual void set_function(const std::string& space, const std::string& name,
                              Function function) = 0;
    /// Calls that wait for it fail with `unknown_function`.
    virtual void remove_function(const std::string& space, const std::string& name) = 0;

    /// Whether several processes share the store. Then events are sent and nobody hears their fate.
    virtual bool is_shared() const = 0;
    /// From now on this process decides for these shards, whose states are as they were taken.
    virtual Result<void> adopt(std::span<const std::pair<ShardId, store::ShardState>> shards) = 0;
    /// It does no more; `gone` is called, on a lane's thread, when all that was decided is durable.
    virtual void let_go(ShardId shard, std::function<void()> gone) = 0;
    /// It has none any more, at once; `done` is called for each lane.
    virtual void lose_all(const Error& error, const std::function<void()>& done) = 0;
    /// An input that came from another process, or by a bus. Waits while the lane is busy.
    virtual void take(Input&& input) = 0;

    /// Tasks that were begun and not answered, and those that wait.
    virtual std::size_t pending_tasks() const = 0;
    /// Tasks of a namespace that wait for their turn.
    virtual std::size_t waiting_tasks(const std::string& space) const = 0;
    virtual EngineStats stats() const = 0;
    /// Finishes what was taken and stops the threads. The destructor does too.
    virtual void stop() = 0;
};

} // namespace sluice::engine
