#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/awake_runs.h"
#include "engine/input.h"
#include "engine/internal/commit.h"
#include "engine/internal/crash_marker.h"
#include "engine/internal/shard_clock.h"
#include "engine/internal/timers.h"
#include "engine/outbox.h"
#include "event/codec.h"
#include "observe/diagnostics.h"
#include "store/store.h"
#include "trigger/arrival.h"
#include "trigger/decider.h"

namespace sluice::engine {

/// Who looks on. All of it is called on the lanes' threads and must be quick; any may be empty.
struct Watch {
    /// Whether a run's records are wanted now, so that what nobody sees is not copied; empty: all
    /// are.
    std::function<bool(const RunName&)> wants;
    /// A decision is durable: its history record.
    std::function<void(const RunName&, std::string_view record)> decided;
    std::function<bool()> wants_runs; ///< As `wants`, of the next.
    /// It is durable that a run has begun, ended or goes on.
    std::function<void(const RunName&, const RunSummary&)> listed;
};

/// Asked before a nested run begins. What it gives is kept until the run is listed; an error puts
/// the start off. Called on the lanes' threads.
using AdmitNested = std::function<Result<std::shared_ptr<void>>(const std::string& space)>;

/// What a shard needs of the world around it. All of it outlives the shard.
struct ShardServices {
    store::Store& store;
    Catalog& catalog;
    const Clock& clock;
    observe::Diagnostics& diagnostics;
    trigger::DecideLimits limits;
    std::size_t awake_runs_max = 10'000;
    Nanos retention = std::chrono::hours{24 * 30};
    std::uint64_t checkpoint_events = 10'000;
    CrashMarker* marker = nullptr; ///< Null: nothing is noted.
    std::size_t lane = 0;
    const AdmitNested* admit_nested = nullptr; ///< Null: every one begins.
};

/// What one commit lets loose once it is durable.
struct Release {
    ShardId shard;
    std::uint64_t commit = 0;
    /// To whoever waits, in order; with the error when the commit failed.
    std::vector<std::move_only_function<void(const Error*)>> answers;
    std::vector<Call> calls;
    std::vector<std::pair<RunName, trigger::TaskKey>> cancelled;
    std::vector<RunName> removed;
    std::vector<StreamInput> messages;
    std::vector<ConfirmInput> confirmations;
    /// What was decided, for who watches: run and history record.
    std::vector<std::pair<RunName, std::string>> records;
    std::vector<std::pair<RunName, RunSummary>> listed; ///< Runs that began or ended, likewise.
    std::uint64_t events = 0;
};

/// One share of all runs, touched by one thread alone: take, match, decide, commit, act, as
/// docs/architecture.md follows it.
///
/// Deciding happens in memory, on top of what is not yet synced; `write` turns it into one batch,
/// and what that batch lets loose waits in its Release until the batch is durable.
class Shard {
public:
    Shard(ShardId id, ShardServices services);

    /// Takes over what the store has: positions, timers, outbox, runs with work left. What it gives
    /// back is to be released at once: it is durable already.
    Result<Release> open(store::ShardState state);

    /// Decides what came. Nothing of it is durable yet.
    Result<void> take(Input&& input);
    Result<void> fire_due_timers();
    /// A turn for each run that has work carried over.
    Result<void> take_turns();
    /// Removes some of the ended runs whose time is over.
    Result<void> sweep_expired();

    bool has_changes() const { return has_changes_; }
    /// Answers of a shard that has no changes: they wait for what is written, and write nothing.
    bool has_answers() const { return !release_.answers.empty(); }
    Release take_answers();
    bool has_turns() const { return !ready_.empty() || !unblocked_.empty(); }
    std::size_t change_bytes() const { return change_bytes_; }
    std::optional<Nanos> until_next_timer();
    /// Everything decided since the last call, as one fenced part of a commit.
    Release write(Commit& commit);
    /// Nothing decided since counts: whoever waits for it hears why.
    void abandon(const Error& error);
    /// From here on nothing waits for a run to have room: numbered events are given back, untaken.
    void drain(const Error& error);
    /// These were not taken, for want of disk: nothing behind them may be before they are.
    void note_refused(const EventsInput& input);
    /// Its commit is durable.
    void confirm_synced(std::uint64_t commit);
    /// Keeps what was decided for whoever watches, who outlives it.
    void set_watch(const Watch& watch) { watch_ = &watch; }

    ShardId id() const { return id_; }
    std::uint64_t events() const { return events_; }
    std::uint64_t fired() const { return fired_; }
    std::size_t outbox_size() const { return outbox_.size(); }
    std::size_t awake_runs() const { return runs_.size(); }
    /// Calls that were decided and not answered.
    std::vector<std::pair<RunName, trigger::TaskKey>> open_calls() const {
        return outbox_.open_calls();
    }
    std::uint64_t quarantined() const { return quarantined_; }

private:
    Result<void> start(StartInput&& input);
    Result<void> fork(ForkInput&& input);
    Result<void> take_events(EventsInput&& input);
    Result<void> take_numbered(EventsInput&& input);
    Result<void> find_run(const std::string& space, const event::Event& event, AwakeRun*& run);
    trigger::Fate decide_outside(AwakeRun* run, event::Event& event, Receipt& receipt);
    bool is_passed(const EventsInput& input, std::size_t at, trigger::Fate fate);
    void answer_events(Accepted done, Receipt receipt);
    bool is_behind_refused(const EventsInput& input);
    void refuse(EventsInput& input, const Error& error);
    void stand_at(EventsInput&& input, std::size_t at, trigger::Fate fate);
    void unblock(const RunName& run);
    void unblock_if_room(const AwakeRun& run);
    Result<void> take_unblocked();
    void give_back(const std::string& partition, const Error& error);
    void move_position(MoveInput&& input);
    bool quarantine(const EventsInput& input, std::size_t at);
    Result<void> sweep_quarantine();
    Result<void> command(CommandInput&& input);
    Result<void> answer(AnswerInput&& input);
    Result<void> take_message(StreamInput&& input);
    Result<void> query(QueryInput&& input);
    Result<void> watch(WatchInput&& input);
    void watch(AwakeRun& run, WatchInput&& input);
    void unwatch(const UnwatchInput& input);
    Result<void> reopen(ReopenInput&& input);
    Result<void> remove(RemoveInput&& input);
    Result<void> remove_nested(const RunName& parent);
    /// All it has goes with the commit being decided.
    void forget(AwakeRun& run);
    Result<void> start_child(const Message& message);
    /// Why there is no room for a nested run; empty: there is.
    std::string refuse_child(const RunName& run);
    void put_off(const Message& message, const std::string& why);
    void send_start(const AwakeRun& run, const trigger::TaskKey& key,
                    const trigger::TaskState& task);
    /// Instead of starting a run that is there: its parent hears of its end. Says what speaks
    /// against it.
    Result<std::string> adopt(const RunName& run, const trigger::RunInfo& info);
    void tell_parent(const RunName& run, const trigger::Parent& parent, std::string_view type,
                     Value data);
    /// Null when its name means nothing.
    Result<AwakeRun*> start_standing(const RunName& run);
    void return_to_sender(const Message& message, std::string_view kind, std::string_view why);
    struct Begun {
        AwakeRun* run;
        bool is_new;
    };
    Result<Begun> begin(const RunName& run, trigger::RunInfo info, const Value& context,
                        std::string_view trace = {});

    trigger::Fate decide(AwakeRun& run, const trigger::Arrival& arrival);
    /// How far a run was before it decided.
    struct Decided {
        std::size_t effects = 0;
        std::size_t bytes = 0;
        std::uint64_t events = 0;
        std::uint64_t fires = 0;
    };
    static Decided begin_deciding(const AwakeRun& run);
    void end_deciding(AwakeRun& run, const Decided& before);
    /// What the newest changes ask of the world outside the run.
    void follow_effects(AwakeRun& run, std::size_t from);
    void follow(AwakeRun& run, trigger::TaskOpened&& opened);
    void follow(AwakeRun& run, const trigger::TaskClosed& closed);
    void follow(AwakeRun& run, const trigger::Sent& sent);
    void follow(AwakeRun& run, const trigger::Replied& replied);
    void follow(AwakeRun& run, const trigger::Ended& ended);
    void follow(AwakeRun& run, const trigger::Renewed& renewed);
    /// With the priority of its run, unless it has its own.
    static Call call_of(const AwakeRun& run, const trigger::TaskKey& key, trigger::TaskState task,
                        std::uint32_t attempt);
    /// Calls of this batch that nobody waits for any more: the sweep takes them out of the outbox.
    void drop_unsent(const AwakeRun& run);
    void touch(AwakeRun& run);
    /// A batch has one moment: its history record says when, once.
    void keep_time();
    void write_run(AwakeRun& run, Commit& commit);
    void list(AwakeRun& run, store::Batch& batch);
    void checkpoint(AwakeRun& run, store::Batch& batch);
    Result<void> expire_run(const RunName& run, Time when);
    Result<void> expire_history(const RunName& run, std::uint64_t checkpoint, Time when);
    Nanos retention_of(const AwakeRun& run) const;
    void answer_later(Done done, Result<Value> result);

    ShardId id_;
    ShardServices services_;
    std::uint64_t commit_ = 0; ///< The last one written.
    Epoch epoch_;
    ShardClock clock_;
    trigger::Moment moment_;
    event::Codec codec_;
    AwakeRuns runs_;
    Outbox outbox_;
    Timers timers_;
    std::map<std::string, std::uint64_t, std::less<>> positions_;
    std::set<std::string> moved_positions_;
    /// Numbers of events that were refused, by partition: what was under way behind them is, too.
    std::map<std::string, std::uint64_t, std::less<>> refused_at_;
    /// A partition stands where a run has no room for its next event.
    struct Blocked {
        RunName run;
        std::size_t bytes = 0; ///< Of that event.
        std::deque<EventsInput> inputs;
    };
    std::map<std::string, Blocked, std::less<>> blocked_;
    std::set<std::string> unblocked_;
    std::uint64_t quarantined_ = 0;          ///< Events that stand in the quarantine.
    std::map<ShardId, std::uint64_t> taken_; ///< The last number of each other shard's stream.
    std::set<ShardId> moved_streams_;
    std::set<RunName> ready_;
    std::map<RunName, std::vector<WatchInput>> watchers_;   ///< Of its end.
    std::map<RunName, std::vector<ReopenInput>> reopening_; ///< Until their end is swept.

    std::vector<AwakeRun*> touched_;
    struct Removed {
        RunName name;
        std::unique_ptr<trigger::RunState> state;
        std::optional<RunSummary> listed; ///< Nothing: it began in this very batch.
    };
    std::vector<Removed> removed_;
    std::vector<std::pair<std::string, std::string>> removed_ranges_;
    std::vector<std::pair<std::string, std::string>>
        puts_; ///< Further keys of this commit; no value: removed.
    Release release_;
    std::optional<Value> reply_; ///< Of the event being decided.
    trigger::Arrival outside_;   ///< Made once: it is large, and an event needs little of it.
    bool has_changes_ = false;
    const Watch* watch_ = nullptr;
    bool is_draining_ = false;
    std::size_t change_bytes_ = 0;
    std::uint64_t events_ = 0; ///< Decided.
    std::uint64_t fired_ = 0;
};

} // namespace sluice::engine
