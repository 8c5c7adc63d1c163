#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "engine/keys.h"
#include "engine/token.h"
#include "event/event.h"
#include "event/packed_text.h"
#include "event/sink.h"
#include "trigger/history.h"
#include "trigger/state.h"

namespace sluice::engine {

/// Called on the shard's thread, after what it tells of is durable.
using Done = std::move_only_function<void(Result<Value>)>;
/// What became of events that were sent together.
struct Receipt {
    struct Reply {
        std::size_t event = 0; ///< Its place among those sent.
        Value data;
    };

    std::vector<trigger::Fate> fates; ///< One for each, in order.
    std::vector<Reply> replies;       ///< Of those that a trigger has answered.

    /// Null: nobody answered it.
    const Value* reply_to(std::size_t event) const;
};
using Accepted = std::move_only_function<void(Result<Receipt>)>;

/// A new run. Succeeds also when the same start was taken before (`existing` in the answer).
struct StartInput {
    RunName run;
    trigger::RunInfo info;
    Value context;
    Done done;
    Done ended{};            ///< As of a WatchInput behind it; hears too when there is no run.
    std::uint64_t watch = 0; ///< Its id.
};

/// A new run that begins as another was.
struct ForkInput {
    RunName run;
    trigger::Forked fork;
    std::string set; ///< The trigger set it is pinned to.
    Done done;
    Value action{}; ///< What it does first; when that fails there is no run. Null: nothing.
};

/// Events for runs of one shard.
struct EventsInput {
    ShardId shard;
    std::string space;
    std::vector<event::Event> events;
    std::string partition;              ///< Of a numbered stream; empty: none.
    std::vector<std::uint64_t> numbers; ///< One for each event of a numbered stream.
    bool is_counted = false; ///< The numbers begin anew with each reading: they are not kept.
    /// What the events lie in, where all are of one run.
    std::shared_ptr<const event::PackedText> packed{};
    Accepted done;
};

/// All events of a partition up to this number were handed out: what a shard has not been sent does
/// not concern it.
struct MoveInput {
    ShardId shard;
    std::string partition;
    std::uint64_t number = 0;
    Done done;
};

/// Nobody feeds this partition any more: what waits for room is given back.
struct LeaveInput {
    ShardId shard;
    std::string partition;
    bool is_counted = false; ///< Then its number is of no use any more.
};

/// Cancel, terminate, or actions from outside.
struct CommandInput {
    RunName run;
    std::string type;
    Value data;
    Done done;
};

/// The answer of a task's attempt.
struct AnswerInput {
    AttemptId attempt;
    event::Answer answer;
    std::optional<Nanos> retry_after;
    Done done; ///< {fate}; nothing for what the dispatcher brings back.
};

/// Whoever has the attempt of a task under way is still at it.
struct HeartbeatInput {
    AttemptId attempt;
    std::uint64_t lease = 0; ///< Under which it has it; 0: any.
    Done done;               ///< Whether it is under way, and under this lease.
};

/// What one shard tells another: stored in the sender's outbox until the receiver has committed it.
struct Message {
    enum class Kind : std::uint8_t { Start, Command, Event, Ended, Undelivered, Remove, Reply };

    Kind kind = Kind::Event;
    RunName to;
    trigger::RunInfo info; ///< Start.
    std::string type;      ///< Command, Ended; Start: `adopt` where a run that is there will do.
    Value data;            ///< Command, Ended, Undelivered; Start: the trace it belongs to.
    std::string json;      ///< Event.
    trigger::TaskKey key;  ///< Ended: which of the receiver's tasks.
    std::uint32_t attempt = 1;
    std::string from;       ///< Event, Undelivered, Reply: the run that is not the receiver.
    trigger::Sender sender; ///< Event, Undelivered, Reply: who sent the event.

    template <typename Archive>
    void fields(Archive& archive) {
        archive("kind", kind)("space", to.space)("to", to.id)("info", info)("type", type)(
            "data", data)("json", json)("key", key)("attempt", attempt)("from", from)("sender",
                                                                                      sender);
    }
};

/// See Message::type.
inline constexpr auto adopt_word = std::string_view{"adopt"};

struct StreamInput {
    ShardId from;
    ShardId to;
    std::uint64_t number = 0;
    Message message;
};

/// The receiver has committed all up to this number.
struct ConfirmInput {
    ShardId from; ///< Receiver of the messages.
    ShardId to;   ///< Their sender.
    std::uint64_t number = 0;
};

/// Reads a run; the answer waits for the sync of what it saw. Null: there is no such run.
struct QueryInput {
    RunName run;
    std::function<Result<Value>(const trigger::RunState*)> read;
    Done done;
};

/// Calls back when the run has ended, or at once if it has.
struct WatchInput {
    RunName run;
    Done done; ///< {status, result, error}
    std::uint64_t id = 0;
};

/// Who waited for that no longer does: its `done` is dropped without being called.
struct UnwatchInput {
    RunName run;
    std::uint64_t id = 0;
};

/// Lets a run that ended without success go on.
struct ReopenInput {
    RunName run;
    Value told; ///< Members of the event that the run goes on with; null: none.
    Done done;  ///< {run, generation}
};

enum class WhenRunning : std::uint8_t { Refuse, Terminate };

/// Removes a run with the runs that it started.
struct RemoveInput {
    RunName run;
    WhenRunning when_running = WhenRunning::Refuse;
    Done done;
};

using Input = std::variant<StartInput, ForkInput, EventsInput, MoveInput, LeaveInput, CommandInput,
                           AnswerInput, HeartbeatInput, StreamInput, ConfirmInput, QueryInput,
                           WatchInput, UnwatchInput, ReopenInput, RemoveInput>;

ShardId shard_of(const Input& input, std::uint16_t shard_count);

} // namespace sluice::engine
