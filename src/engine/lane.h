#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/internal/backlog.h"
#include "engine/internal/committer.h"
#include "engine/shard.h"

namespace sluice::engine {

/// What a lane hands on after a commit: to functions, to other shards, to whoever watches.
struct LaneOutputs {
    std::function<void(std::vector<Call>)> dispatch;
    std::function<void(const RunName&, const trigger::TaskKey&)> cancel;
    /// Whether an attempt is under way, and under this lease; empty: none is.
    std::function<bool(const AttemptId&, std::uint64_t lease)> heartbeat{};
    std::function<void(Input&&)> post; ///< To the lane of the input's shard.
    /// Nothing of the run is left. Comes before whoever asked for it hears of it.
    std::function<void(const RunName&)> removed{};
    Watch watch;
    std::function<void(const Error&)> stop; ///< A commit failed: nothing may go on.
    /// What is for a shard that is not here; empty: whoever sent it hears so.
    std::function<void(Input&&)> elsewhere{};
    /// Another process has one of the shards: all of them are gone from here. Empty: it stops.
    std::function<void(const Error&)> lost{};
};

/// As of the last commit.
struct LaneStats {
    std::uint64_t events = 0;
    std::uint64_t fired = 0;
    std::uint64_t commits = 0;
    std::uint64_t commit_bytes = 0;
    std::uint64_t quarantined = 0; ///< Events in quarantine.
    std::uint64_t backlog = 0;     ///< Inputs that wait to be decided.
    std::uint64_t outbox = 0;      ///< Commits of which something has not left yet.
    std::uint64_t awake_runs = 0;
};

struct LaneLimits {
    std::size_t batch_bytes_max = 800'000;
    std::size_t batches_in_flight_max = 4;
};

/// Several shards on one thread: decides what arrives, commits it in groups, lets it loose when it
/// is durable.
///
/// While one batch is being synced the next is decided on top of it. It has no thread of its own:
/// whoever owns it calls `step`, which is how the simulator runs it.
class Lane {
public:
    Lane(store::Store& store, Committer& committer, LaneOutputs outputs, LaneLimits limits,
         observe::Diagnostics& diagnostics);

    void add(std::unique_ptr<Shard> shard, Release left);
    /// Takes nothing more for a shard, and gives it up once all that it decided is durable: `gone`
    /// is called then.
    void let_go(ShardId shard, std::function<void()> gone);
    /// Gives all its shards up at once. Nothing decided since the last commit counts.
    void lose(const Error& error);

    /// What came, to be decided with the next step.
    void take(std::vector<Input>& inputs) { backlog_.add(inputs); }
    /// Takes what came and whatever is due, and begins a commit if there is something to commit.
    /// True when it did anything.
    bool step(std::vector<Input>& inputs);
    /// A commit that was handed to the committer is over; called on the lane's thread.
    void committed(std::unique_ptr<Commit> commit, Result<void> result);
    /// How a finished commit finds its way back to the lane's thread.
    void set_return(std::function<void(std::unique_ptr<Commit>, Result<void>)> give_back);

    /// When it has to be stepped next, without mail; nothing: not before mail comes.
    std::optional<Nanos> until_next();
    bool has_stopped() const { return has_stopped_; }
    /// From here on it decides what was taken and nothing else: timers and turns wait for the next
    /// start.
    void drain();
    std::size_t in_flight() const { return in_flight_.size(); }
    Shard& shard(ShardId id) { return *shards_.at(id); }
    bool has(ShardId id) const { return shards_.contains(id); }
    /// Of what was decided up to the last commit; from any thread.
    LaneStats stats() const;
    /// Answers whoever waits for this input that it was not taken.
    static void refuse(Input& input, const Error& error);
    const std::optional<Error>& stop_reason() const { return stop_reason_; }
    void sweep();

private:
    using Releases = std::vector<Release>;

    void decide();
    void answer(HeartbeatInput& input);
    bool is_refused(Input& input);
    void hand_on(Input&& input);
    bool is_under_way(ShardId shard) const;
    void finish_leaving();
    static void answer_all(Releases& releases, const Error& error);
    void give_up(Shard& shard, const Error& error);
    void count_commit(const Commit& commit);
    std::unique_ptr<Commit> take_spare();
    bool commit();
    bool answer_reads(Releases reads);
    void release(Releases releases);
    void stop(const Error& error);

    store::Store& store_;
    Committer& committer_;
    LaneOutputs outputs_;
    LaneLimits limits_;
    observe::Diagnostics& diagnostics_;
    std::map<ShardId, std::unique_ptr<Shard>> shards_;
    std::map<ShardId, std::function<void()>> leaving_;
    std::size_t lost_in_flight_ = 0; ///< Commits under way of shards that were given up since.
    Backlog backlog_;                ///< Taken from the mailbox, not yet decided.
    std::vector<Input> waiting_for_room_;
    std::deque<Releases> in_flight_;
    std::vector<std::unique_ptr<Commit>> spare_commits_;
    std::function<void(std::unique_ptr<Commit>, Result<void>)> give_back_;
    bool has_stopped_ = false;
    bool is_full_ = false;
    bool is_draining_ = false;
    std::optional<Error> stop_reason_;
    mutable std::mutex stats_mutex_; ///< Taken once a commit, and by whoever asks.
    LaneStats stats_;
};

} // namespace sluice::engine
