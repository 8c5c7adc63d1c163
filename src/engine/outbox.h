#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/input.h"
#include "engine/keys.h"
#include "engine/token.h"
#include "store/store.h"

namespace sluice::engine {

/// A call that was decided and waits for its answer.
struct Call {
    RunName run;
    trigger::TaskKey key;
    std::uint32_t attempt = 1;
    Time started{}; ///< Of the run.
    trigger::TaskState task;
    bool has_content = true; ///< Otherwise its input stands in its run's state only.

    AttemptId id() const {
        return {
            .run = run, .started = started, .key = key, .attempt = attempt, .scope = task.scope};
    }
};

/// What was decided and is not yet acknowledged: one record for each commit that decided any,
/// removed when all of it is done.
///
/// Nothing leaves before its commit is synced; after a crash everything still here leaves again,
/// with the same keys.
class Outbox {
public:
    explicit Outbox(ShardId shard) : shard_(shard) {}

    /// Of the batch being decided. The call itself stands in its run's state.
    void add_call(const RunName& run, const trigger::TaskKey& key);
    void add_message(ShardId to, Message message);
    void close_call(const RunName& run, const trigger::TaskKey& key);
    void confirm(ShardId receiver, std::uint64_t number);

    /// Puts this commit's record, and removes those that are done.
    void write(std::uint64_t commit, store::Batch& batch);
    /// Messages that `write` put last, to be posted once they are durable.
    std::vector<StreamInput> take_messages() { return std::move(written_); }

    /// After a restart: the calls and messages that were not done.
    struct Left {
        std::vector<std::pair<RunName, trigger::TaskKey>> calls;
        std::vector<StreamInput> messages;
    };
    Result<Left> load(const store::Store& store);

    /// Runs that this one starts and that may not have begun.
    std::set<RunName> starting(const RunName& parent) const;

    std::size_t size() const { return remaining_.size(); }
    std::vector<std::pair<RunName, trigger::TaskKey>> open_calls() const;

private:
    using CallName = std::pair<RunName, trigger::TaskKey>;

    void finish_one(std::uint64_t commit);
    void note_start(const StreamInput& message);

    ShardId shard_;
    std::vector<CallName> new_calls_;
    std::vector<StreamInput> new_messages_;
    std::vector<StreamInput> written_;
    std::map<ShardId, std::uint64_t> sent_;
    /// To the commit that decided them; 0: the one being decided.
    std::map<RunName, std::map<trigger::TaskKey, std::uint64_t>> calls_;
    std::map<std::pair<ShardId, std::uint64_t>, std::uint64_t> messages_;
    /// Unconfirmed starts: parent and child by receiver and number.
    std::map<std::pair<ShardId, std::uint64_t>, std::pair<RunName, RunName>> starts_;
    std::map<std::uint64_t, std::size_t> remaining_; ///< By commit.
    std::vector<std::uint64_t> done_;
};

} // namespace sluice::engine
