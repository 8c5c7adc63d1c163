#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "event/codec.h"
#include "event/event_view.h"
#include "trigger/action.h"
#include "trigger/arrival.h"
#include "trigger/history.h"
#include "trigger/internal/bindings.h"
#include "trigger/run_triggers.h"
#include "trigger/state.h"

namespace sluice::trigger {

struct DecideLimits {
    std::uint64_t own_events_per_turn_max = 10'000;
    std::uint64_t own_events_max = 1'000'000; ///< Without an outside event: beyond, the run fails.
    std::uint64_t slice_items_max = 1'000;
    std::uint64_t seen_ids_max = 1'000'000;          ///< Beyond, the old ones are forgotten:
    Nanos seen_age_max = std::chrono::hours{24 * 7}; ///< those that have reached this age.
    Nanos cancel_grace_default = std::chrono::seconds{30};
};

/// Whether a run may keep one more event, of this size.
bool has_room_to_keep(const RunState& state, const SetSpec& spec, std::size_t bytes);

/// Decides one run's events: which triggers they activate, whether those fire, and what that
/// changes.
///
/// Pure: the same state and the same arrivals give the same changes. It changes the state through
/// `apply` alone and writes every change to the journal; it performs nothing.
class Decider {
public:
    Decider(RunState& state, RunTriggers& triggers, Journal& journal, event::Codec& codec,
            const DecideLimits& limits)
        : state_(state), triggers_(triggers), journal_(journal), codec_(codec), limits_(limits) {}

    /// One event, then what the run emitted to itself meanwhile, up to a turn's worth. What is left
    /// stays in the run's queue: `has_work()` of the state says so.
    Fate decide(const Arrival& arrival);
    /// A turn without a new event: the rest of the queue, or the next slice of each long action and
    /// of what was closed.
    void take_turn(Moment moment);

    /// Deciding this event has stopped the process before: it is kept with the reason and not
    /// decided.
    Fate set_aside(const Arrival& arrival, const std::string& reason);
    /// Only what the run emitted to itself and what it kept: the part of a turn that replay takes
    /// by itself.
    void settle_queue(Moment moment);

    /// Whoever sent this was there before, though that is not in the state: replay from a
    /// checkpoint.
    void note_seen(const event::Event& event) { static_cast<void>(note_id(event)); }

    const RunState& state() const { return state_; }
    /// Of the event being decided, when another run sent it.
    const std::optional<Sender>& sender() const { return sender_; }
    RunTriggers& triggers() { return triggers_; }
    const DecideLimits& limits() const { return limits_; }

    // For firings and their actions:
    void record(Change&& change);
    /// What most events do, without asking which change it is.
    void record(const Activated& change, TriggerState* known);
    /// Closes a scope: what lives in it is dead, and goes at once or in slices.
    void close_scope(const std::string& path);
    void end_run(Status status, Value result, Value error);
    /// This generation is over; the next begins when the event has been decided.
    void continue_as_new(Renewal next);
    void switch_trigger(TriggerNumber number, Incarnation scope, Switch enabled);
    void override_trigger(TriggerNumber number, const Value& form,
                          std::shared_ptr<const CompiledTrigger> compiled);
    /// A trigger's context was set from elsewhere: its condition may answer fire now.
    void recheck(TriggerNumber number, Incarnation scope, const event::Event& event);
    void release_hold(Incarnation scope);
    void arm_deadline(TriggerNumber number, Incarnation scope);
    void set_timer(TimerState timer);
    void remove_timer(TimerNumber number);
    /// Lets a task's answer no longer matter, and tells it to stop.
    void cancel_task(const TaskKey& key);
    Moment moment() const { return moment_; }
    /// Null: nobody listens.
    Listener* listener() const { return listener_; }
    /// It must outlive what is decided.
    void set_listener(Listener* listener) { listener_ = listener; }

private:
    Fate decide_one(const Arrival& arrival);
    Fate dispatch(const Arrival& arrival);
    Fate decide_outside(const Arrival& arrival);
    Fate decide_returned(const Arrival& arrival);
    Fate decide_kept(const Arrival& arrival);
    void note_sender(const Arrival& arrival);
    Fate decide_own(const Arrival& arrival);
    Fate decide_answer(const Arrival& arrival);
    Fate decide_timer(const Arrival& arrival);
    Fate decide_command(const Arrival& arrival);
    Fate decide_slice(const Arrival& arrival);
    Fate begin_run(const Arrival& arrival);
    Fate fork_run(const Arrival& arrival);
    Fate reopen_run(const Arrival& arrival);
    /// Where its definition has a strategy the run waits with this event until it has a place;
    /// false: it need not.
    bool wait_for_place(const event::Event& event);
    void ask_for_place();
    Fate decide_place(const Arrival& arrival);
    void tell_definition(std::string_view type, const Value& data);
    Fate cancel_run(const Arrival& arrival);
    /// Does nothing when nobody is named.
    void adopt(const event::Event& event);
    void fail_command(const std::string& code, const std::string& message);
    Fate pause_run();
    Fate resume_run();
    Fate run_actions(const Arrival& arrival);
    Fate expire_trigger(TriggerNumber number, Incarnation scope, const event::Event& event);
    Fate retry_task(const Arrival& arrival, const TaskKey& key);
    /// A sink's answer, which may come after the run has ended.
    Fate decide_delivery(const Arrival& arrival, const TaskKey& key);
    bool is_delivery(const Arrival& arrival) const;
    /// What is still decided when its generation is over.
    bool counts_when_over(const Arrival& arrival) const;

    bool begin_next_generation();
    void renew(const Renewed& renewed);
    /// Of the run itself, and the deadlines of its triggers.
    void arm_run_timers();
    void arm_kept_ttl(EventNumber number, const KeptEvent& kept);
    /// Every kept event may find a trigger in a new generation.
    void offer_kept_again();

    /// Events that waited, then the run's own, within a turn's budget.
    void settle();
    bool deliver_next_kept();
    bool deliver_next_own();
    /// By the state of its scope; nothing: it depends on which triggers match it.
    std::optional<bool> is_deliverable_as_kept(const KeptEvent& kept) const;
    bool is_awaited(const KeptEvent& kept, const event::Event& event) const;
    /// Enabled in this scope, and not gone.
    bool is_waiting(TriggerNumber number, Incarnation scope) const;
    /// Of the run's budget; false when it is used up, which has ended the run.
    bool spend_own_event();

    /// Remembers who sent what; false when that was seen before.
    bool note_id(const event::Event& event);
    void forget_id(const event::Event& event);
    bool note_sequence(const event::Event& event);
    /// Of the oldest, those that have reached the age.
    void forget_ids(Nanos age, Nanos span);

    Fate deliver_in(Incarnation scope, const event::Event& event);
    /// A trigger that an event meets in a scope, with what it remembers there, if anything.
    struct Meeting {
        TriggerNumber number;
        const CompiledTrigger& trigger;
        Incarnation scope;
        TriggerState* remembered;
        std::span<const std::uint32_t> patterns;
    };
    /// Whether the trigger took the event: a filter may turn it away.
    bool activate(const Meeting& meeting, event::EventView& view);
    /// Triggers that are gone or disabled here say what becomes of an event nobody has taken.
    void note_withdrawn(Incarnation scope, const event::Event& event, bool& is_parked,
                        bool& is_gone) const;
    void follow(const Meeting& meeting, const Verdict& verdict, const event::Event& event);
    void fire(TriggerNumber number, const CompiledTrigger& trigger, Incarnation scope,
              const event::Event& event, std::uint64_t progress);
    /// Whether an interceptor stood in for the trigger's own actions.
    bool intercept(const std::vector<TriggerNumber>& interceptors, InterceptWhen when,
                   Incarnation scope, const event::Event& event);
    void perform(const CompiledTrigger& trigger, Firing& firing);
    void fault(TriggerNumber number, const CompiledTrigger& trigger, const expr::Fault& fault,
               Incarnation scope, const event::Event& event);
    /// Ends a run whose triggers fire each other without end.
    bool is_runaway(TriggerNumber number, const CompiledTrigger& trigger);
    /// Within the run's bound: beyond it, what can be sent again is turned away, and otherwise the
    /// run fails.
    Fate keep(KeptReason reason, Incarnation scope, const event::Event& event);
    Fate keep_now(KeptReason reason, Incarnation scope, const event::Event& event);
    bool is_held(Incarnation scope, std::optional<TriggerNumber> answered) const;
    std::optional<TimerNumber> deadline_of(TriggerNumber number, Incarnation scope) const;
    /// Effects for tasks that end with their scope at once: history needs only the scope's mark.
    void announce_dropped(const TaskKey& key, const TaskState& task);
    void announce_dropped_tasks();
    /// Whether what the run, or a scope, has open is not more than a slice.
    bool can_close_at_once(bool drops_contexts) const;
    bool can_close_at_once(const std::string& path) const;
    Fate sweep();
    void sweep_one_of_run();
    void sweep_one_of_scopes();

    event::Event load(const std::string& json);

    RunState& state_;
    RunTriggers& triggers_;
    Journal& journal_;
    event::Codec& codec_;
    const DecideLimits& limits_;
    Listener* listener_ = nullptr;

    Moment moment_;
    EventNumber number_; ///< Of the event being decided; a kept one has that of its arrival.
    std::vector<TriggerNumber> awakened_; ///< Enabled, added or changed: kept events may match now.
    bool has_released_ = false;           ///< A hold or a scope: kept events may go now.
    bool offers_all_ = false;             ///< Kept events, whichever trigger they find.
    bool offers_failed_ = false;          ///< Those too on which a trigger failed.
    EventNumber kept_cursor_;
    std::uint64_t turn_events_ = 0;
    Origin origin_ = Origin::Command;        ///< Of the event being decided.
    std::optional<Sender> sender_;           ///< Of it, when another run sent it.
    Incarnation own_scope_;                  ///< Of the own event being decided.
    std::optional<TaskKey> sweep_task_;      ///< Those behind it are on their way to sinks.
    std::optional<TimerNumber> sweep_timer_; ///< Likewise.
    bool has_fired_ = false;
    bool has_failed_ = false;
    std::uint32_t fire_depth_ = 0;
    std::uint64_t fires_of_event_ = 0;
    std::optional<std::uint64_t> sequence_before_; ///< Of the source, before this event.
};

} // namespace sluice::trigger
