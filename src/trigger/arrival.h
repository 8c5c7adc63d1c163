#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "event/event.h"
#include "event/sink.h"
#include "trigger/change.h"
#include "trigger/state.h"

namespace sluice::trigger {

/// How an event came to its run.
enum class Origin : std::uint8_t {
    Outside, ///< From a source.
    Own,     ///< Emitted by the run itself. refs: number in its queue.
    Task,    ///< An answer. refs: fire, index, attempt, nanoseconds until the next attempt plus one
             ///< (0: none).
    Timer,   ///< refs: timer, occurrence.
    Command, ///< From the engine or an operator: start, cancel, terminate, actions.
    Kept,    ///< An event that waited. refs: the number it had.
    Continue, ///< The next slice of a long action. refs: continuation.
    Sweep,    ///< The next slice of what was closed is removed.
    Run,      ///< From another run, which its source names. refs: the sender's fire, index, scope
              ///< and trigger.
    Returned, ///< What another run made of an event of ours. refs: the same, our own.
};
std::string_view to_string(Origin origin);
/// Whether it may come twice, and may be sent again when it is refused.
inline bool is_from_outside(Origin origin) {
    return origin == Origin::Outside || origin == Origin::Run;
}

/// Whether it comes from beyond the run, so that what the run emits to itself is counted anew.
inline bool renews_budget(Origin origin) {
    return is_from_outside(origin) || origin == Origin::Task;
}

/// When a batch was taken: both never go back on a shard.
struct Moment {
    Time time{};   ///< Civil.
    Time steady{}; ///< Of the shard's steady clock; relative timers run by it.
};

/// An event as it reaches a run. Together with the run's state it determines the decision.
struct Arrival {
    Origin origin = Origin::Outside;
    event::Event event;
    Moment moment;
    std::array<std::uint64_t, 4> refs{};
    /// Of `sluice.run.started` only. History has it as the change it becomes.
    std::optional<Began> start{};
    /// Of `sluice.run.forked` only.
    std::optional<Forked> fork{};
    /// Of the `sluice.run.started` of a later generation.
    std::optional<Renewed> renewal{};
};

namespace types {
inline constexpr std::string_view run_started = "sluice.run.started";
inline constexpr std::string_view run_forked = "sluice.run.forked";
inline constexpr std::string_view run_reopened = "sluice.run.reopened";
inline constexpr std::string_view run_adopted = "sluice.run.adopted";
inline constexpr std::string_view run_cancel = "sluice.run.cancel";
inline constexpr std::string_view run_terminate = "sluice.run.terminate";
inline constexpr std::string_view run_pause = "sluice.run.pause";
inline constexpr std::string_view run_resume = "sluice.run.resume";
inline constexpr std::string_view run_command = "sluice.run.command";
inline constexpr std::string_view run_succeeded = "sluice.run.succeeded";
inline constexpr std::string_view run_failed = "sluice.run.failed";
inline constexpr std::string_view run_cancelled = "sluice.run.cancelled";
inline constexpr std::string_view run_timed_out = "sluice.run.timed_out";
inline constexpr std::string_view place_wanted = "sluice.place.wanted";
inline constexpr std::string_view place_left = "sluice.place.left";
inline constexpr std::string_view task_succeeded = "sluice.task.succeeded";
inline constexpr std::string_view task_failed = "sluice.task.failed";
inline constexpr std::string_view timer_fired = "sluice.timer.fired";
inline constexpr std::string_view reply = "sluice.reply";
inline constexpr std::string_view delivery_failed = "sluice.delivery.failed";
inline constexpr std::string_view continued = "sluice.continue";
inline constexpr std::string_view sweep = "sluice.sweep";
inline constexpr std::string_view reserved_prefix = "sluice.";
} // namespace types

/// What starts a run, as a part of a trace if there is one.
Arrival start_arrival(const RunState& state, RunInfo info, Value context, Moment moment,
                      std::string_view trace = {});
/// What starts its next generation. It must be about to continue as new.
Arrival renew_arrival(const RunState& state, Moment moment);
/// What lets a run begin as another was.
Arrival fork_arrival(const RunState& state, Forked fork, Moment moment);

/// As data of `sluice.run.adopted`, and of `sluice.run.reopened` where it goes on for another.
Value adoption(const Parent& parent);

/// `sluice.run.cancel`, `sluice.run.terminate`, `sluice.run.adopted`, `sluice.run.reopened`,
/// `sluice.run.pause`, `sluice.run.resume` or, with actions in its data, `sluice.run.command`.
Arrival command_arrival(const RunState& state, std::string_view type, const Value& data,
                        Moment moment);

/// The answer of a task's attempt; `retry_after` when another attempt is to follow.
Arrival task_arrival(const RunState& state, const TaskKey& key, std::uint32_t attempt,
                     const event::Answer& answer, std::optional<Nanos> retry_after, Moment moment);
/// The end of a nested run, as an answer to the task that started it: `status` by its event type.
Arrival child_arrival(const RunState& state, const TaskKey& key, std::uint32_t attempt,
                      std::string_view type, const Value& data, Moment moment,
                      std::optional<Nanos> retry_after = {});
/// An event that another run sent.
Arrival sent_arrival(event::Event event, const Sender& sender, Moment moment);
/// Who sent it.
Sender sender_of(const Arrival& arrival);
/// An event for another run could not be taken there: `data` says which, and why.
Arrival undelivered_arrival(const RunState& state, const Sender& sent_as, std::string_view target,
                            const Value& data, Moment moment);
/// What the standing run of its definition says of a run's place.
bool is_place_answer(const Arrival& arrival);
/// What another run replied to an event.
Arrival reply_arrival(const RunState& state, const Sender& sent_as, std::string_view target,
                      const Value& data, Moment moment);
/// A timer that is due. It must still stand.
Arrival timer_arrival(const RunState& state, TimerNumber number, Moment moment);
/// The next slice of what is closed.
Arrival sweep_arrival(const RunState& state, Moment moment);
/// The next slice.
Arrival continue_arrival(const RunState& state, std::uint64_t number, Moment moment);

} // namespace sluice::trigger
