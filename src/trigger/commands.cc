#include <utility>

#include "base/invariant.h"
#include "trigger/decider.h"
#include "trigger/firing.h"

namespace sluice::trigger {

namespace {

Status status_named(const Value* name) {
    auto text = name != nullptr && name->is_string() ? name->as_string() : std::string_view{};
    if (text == "failed") {
        return Status::Failed;
    }
    return text == "timed out" ? Status::TimedOut : Status::Cancelled;
}

Value member_or_null(const Value& map, std::string_view key) {
    const auto* member = map.find(key);
    return member == nullptr ? Value{} : *member;
}

} // namespace

Fate Decider::decide_command(const Arrival& arrival) {
    auto type = arrival.event.type();
    if (type == types::run_started) {
        return begin_run(arrival);
    }
    if (type == types::run_forked) {
        return fork_run(arrival);
    }
    if (type == types::run_reopened) {
        return reopen_run(arrival);
    }
    if (type == types::run_cancel) {
        return cancel_run(arrival);
    }
    if (type == types::run_terminate) {
        auto data = arrival.event.data();
        end_run(status_named(data.find("status")), {}, member_or_null(data, "error"));
        return Fate::Handled;
    }
    if (type == types::run_pause) {
        return pause_run();
    }
    if (type == types::run_resume) {
        return resume_run();
    }
    if (type == types::run_adopted) {
        adopt(arrival.event);
        return Fate::Handled;
    }
    if (type == types::run_command) {
        return run_actions(arrival);
    }
    return deliver_in(root_scope, arrival.event);
}

Fate Decider::begin_run(const Arrival& arrival) {
    if (arrival.renewal) {
        renew(*arrival.renewal);
    } else {
        INVARIANT(arrival.start.has_value(), "a start event is the engine's own");
        record(*arrival.start);
        if (wait_for_place(arrival.event)) {
            return Fate::Parked;
        }
    }
    arm_run_timers();
    auto fate = deliver_in(root_scope, arrival.event);
    return fate == Fate::Unmatched ? Fate::Handled : fate;
}

/// Its open tasks are called and its timers run anew, under the new run's name.
Fate Decider::fork_run(const Arrival& arrival) {
    INVARIANT(arrival.fork.has_value(), "a fork event is the engine's own");
    record(*arrival.fork);
    // One that has a place goes on beside the runs that share it.
    if (state_.place && state_.place->is_given) {
        record(PlaceSet{});
    } else if (state_.place) {
        ask_for_place();
    }
    for (const auto& [key, task] : state_.tasks) {
        if (state_.is_open(task)) {
            journal_.effects.emplace_back(TaskOpened{.key = key, .task = task});
        }
    }
    for (const auto& [number, timer] : state_.timers) {
        journal_.effects.emplace_back(TimerSet{.number = number, .timer = timer});
    }
    return Fate::Handled;
}

void Decider::adopt(const event::Event& event) {
    auto data = event.data();
    const auto* parent = data.find("parent");
    if (parent == nullptr) {
        return;
    }
    auto number = [&](std::string_view name) {
        return static_cast<std::uint64_t>(parent->find(name)->as_int());
    };
    record(Adopted{.parent = {.run = std::string{parent->find("run")->as_string()},
                              .fire = FireNumber{number("fire")},
                              .index = number("index"),
                              .attempt = static_cast<std::uint32_t>(number("attempt"))}});
}

/// The run may handle its cancellation within a grace time; one that has no trigger for it ends at
/// once.
Fate Decider::cancel_run(const Arrival& arrival) {
    if (state_.progress.is_cancelling) {
        return Fate::Late;
    }
    if (state_.is_queued()) {
        end_run(Status::Cancelled, {}, member_or_null(arrival.event.data(), "error"));
        return Fate::Handled;
    }
    auto fate = state_.is_over() ? Fate::Handled : deliver_in(root_scope, arrival.event);
    if (state_.has_ended()) {
        return fate;
    }
    // One that would continue as new instead is cancelled too.
    if ((fate != Fate::Fired && fate != Fate::Activated) || state_.is_over()) {
        end_run(Status::Cancelled, {}, member_or_null(arrival.event.data(), "error"));
        return Fate::Handled;
    }
    record(Cancelling{});
    auto grace = triggers_.spec().cancel_grace;
    auto timer = TimerState{.purpose = TimerPurpose::CancelGrace};
    timer.due = moment_.steady + (grace > Nanos{0} ? grace : limits_.cancel_grace_default);
    set_timer(std::move(timer));
    return fate;
}

/// What comes from outside, answers and timers wait; commands do not, nor what the run sends
/// itself.
Fate Decider::pause_run() {
    if (state_.is_paused()) {
        return Fate::Late;
    }
    record(HoldSet{.scope = paused_run, .by = command_trigger});
    return Fate::Handled;
}

Fate Decider::resume_run() {
    if (!state_.is_paused()) {
        return Fate::Late;
    }
    release_hold(paused_run);
    return Fate::Handled;
}

/// Actions from outside: the trigger API is this.
Fate Decider::run_actions(const Arrival& arrival) {
    auto data = arrival.event.data();
    auto problems = std::vector<Problem>{};
    auto form = Value::object({{"id", "command"},
                               {"on", types::run_command},
                               {"action", member_or_null(data, "action")}});
    auto compiled = triggers_.check(command_trigger, form, problems);
    if (!compiled) {
        fail_command("invalid_command", to_error(problems).message);
        return Fate::Failed;
    }
    auto fire = FireNumber{state_.progress.fires + 1};
    record(Fired{.scope = root_scope, .trigger = command_trigger, .fire = fire, .is_gone = true});
    triggers_.set_commander(compiled);
    auto firing = Firing{*this, arrival.event, command_trigger, root_scope, fire};
    auto fate = Fate::Handled;
    for (auto at = std::uint32_t{0};
         at < compiled->actions.size() && fate == Fate::Handled && !state_.is_over(); ++at) {
        firing.begin_action(at);
        auto done = compiled->actions[at]->perform(firing);
        if (!done) {
            fail_command(done.error().code, done.error().message);
            fate = Fate::Failed;
        }
    }
    triggers_.set_commander(nullptr);
    return fate;
}

/// Whoever gave the command hears why; that is no part of the run.
void Decider::fail_command(const std::string& code, const std::string& message) {
    record(Faulted{.trigger = command_trigger, .code = code, .message = message});
    journal_.effects.emplace_back(Replied{
        .data = Value::object({{"error", Value::object({{"code", code}, {"message", message}})}})});
}

Fate Decider::decide_answer(const Arrival& arrival) {
    auto key = TaskKey{.fire = FireNumber{arrival.refs[0]}, .index = arrival.refs[1]};
    auto task = state_.tasks.find(key);
    if (task == state_.tasks.end() || task->second.attempt != arrival.refs[2] ||
        task->second.is_waiting || !state_.is_open(task->second)) {
        return Fate::Late;
    }
    if (arrival.refs[3] > 0) {
        return retry_task(arrival, key);
    }
    if (task->second.kind == TaskKind::Sink) {
        return decide_delivery(arrival, key);
    }
    auto scope = task->second.scope;
    auto trigger = task->second.trigger;
    auto kind = task->second.kind;
    record(TaskClosed{
        .key = key, .kind = kind, .child = task->second.child, .attempt = task->second.attempt});
    if (is_held(scope, trigger)) {
        return keep(KeptReason::Held, scope, arrival.event);
    }
    auto fate = deliver_in(scope, arrival.event);
    auto is_success = arrival.event.type() == types::task_succeeded ||
                      arrival.event.type() == types::run_succeeded;
    // A failure that nobody waits for must not leave the run hanging.
    if (!is_success && !state_.is_over() && fate != Fate::Fired && fate != Fate::Activated &&
        fate != Fate::Parked && fate != Fate::Failed) {
        auto error = member_or_null(arrival.event.data(), "error");
        end_run(Status::Failed, {},
                Value::object({{"kind", "task_failed"},
                               {"message", fmt::format("{} failed and no trigger waits for that",
                                                       arrival.event.subject())},
                               {"cause", error}}));
        return Fate::Failed;
    }
    return fate;
}

bool Decider::is_delivery(const Arrival& arrival) const {
    auto key = TaskKey{.fire = FireNumber{arrival.refs[0]}, .index = arrival.refs[1]};
    if (arrival.origin == Origin::Timer) {
        auto timer = state_.timers.find(TimerNumber{arrival.refs[0]});
        if (timer == state_.timers.end() || timer->second.purpose != TimerPurpose::Retry) {
            return false;
        }
        key = timer->second.task;
    } else if (arrival.origin != Origin::Task) {
        return false;
    }
    auto task = state_.tasks.find(key);
    return task != state_.tasks.end() && task->second.kind == TaskKind::Sink;
}

Fate Decider::decide_delivery(const Arrival& arrival, const TaskKey& key) {
    record(TaskClosed{.key = key, .kind = TaskKind::Sink});
    auto is_taken = arrival.event.type() != types::delivery_failed;
    return is_taken || state_.is_over() ? Fate::Handled : deliver_in(root_scope, arrival.event);
}

Fate Decider::retry_task(const Arrival& arrival, const TaskKey& key) {
    const auto& task = state_.tasks.at(key);
    auto timer = TimerState{.purpose = TimerPurpose::Retry};
    timer.due = moment_.steady + Nanos{static_cast<std::int64_t>(arrival.refs[3] - 1)};
    timer.scope = task.scope;
    timer.trigger = task.trigger;
    timer.task = key;
    record(TaskRetried{.key = key, .attempt = task.attempt + 1, .is_waiting = true});
    set_timer(std::move(timer));
    return Fate::Retried;
}

Fate Decider::decide_timer(const Arrival& arrival) {
    auto number = TimerNumber{arrival.refs[0]};
    auto found = state_.timers.find(number);
    if (found == state_.timers.end() || found->second.occurrence != arrival.refs[1] ||
        state_.path_of(found->second.scope) == nullptr) {
        return Fate::Late;
    }
    auto timer = found->second;
    if (timer.period > Nanos{0}) {
        auto next = timer;
        next.due += timer.period;
        ++next.occurrence;
        record(TimerSet{.number = number, .timer = std::move(next)});
    } else {
        remove_timer(number);
    }
    switch (timer.purpose) {
        case TimerPurpose::Deadline:
            return expire_trigger(timer.trigger, timer.scope, arrival.event);
        case TimerPurpose::Retry:
            if (state_.tasks.contains(timer.task)) {
                auto attempt = state_.tasks.at(timer.task).attempt;
                record(TaskRetried{.key = timer.task, .attempt = attempt, .is_waiting = false});
            }
            return Fate::Handled;
        case TimerPurpose::RunTimeout:
            end_run(Status::TimedOut, {},
                    Value::object({{"kind", "timeout"}, {"message", "the run took too long"}}));
            return Fate::Handled;
        case TimerPurpose::CancelGrace: end_run(Status::Cancelled, {}, {}); return Fate::Handled;
        case TimerPurpose::KeptTtl:
            if (auto kept = EventNumber{timer.task.index}; state_.kept.contains(kept)) {
                record(EventReleased{.number = kept, .is_expired = true});
            }
            return Fate::Handled;
        case TimerPurpose::Author: break;
    }
    if (is_held(timer.scope, timer.trigger)) {
        return keep(KeptReason::Held, timer.scope, arrival.event);
    }
    return deliver_in(timer.scope, arrival.event);
}

Fate Decider::expire_trigger(TriggerNumber number, Incarnation scope, const event::Event& event) {
    const auto* trigger = triggers_.get(number);
    if (trigger == nullptr || !is_enabled(state_, *trigger, number, scope)) {
        return Fate::Late;
    }
    static const auto untouched = TriggerState{};
    auto* remembered = state_.find_trigger(scope, number);
    if (remembered != nullptr && remembered->is_gone) {
        return Fate::Late;
    }
    auto bindings = RunBindings{state_, triggers_, event, moment_, number, scope};
    auto verdict =
        trigger->condition->expire({.event = event,
                                    .patterns = {},
                                    .state = remembered == nullptr ? untouched : *remembered,
                                    .memory = memory_of(remembered, *trigger),
                                    .bindings = bindings});
    follow({number, *trigger, scope, remembered, {}}, verdict, event);
    if (has_failed_) {
        return Fate::Failed;
    }
    return has_fired_ ? Fate::Fired : Fate::Activated;
}

Fate Decider::decide_slice(const Arrival& arrival) {
    auto number = arrival.refs[0];
    auto& continuation = state_.continuations.at(number);
    const auto* trigger = triggers_.get(continuation.trigger);
    if (trigger == nullptr || continuation.action >= trigger->actions.size()) {
        record(Advanced{.number = number, .is_done = true});
        return Fate::Late;
    }
    if (continuation.parsed.json().empty()) {
        continuation.parsed = load(continuation.event);
    }
    auto event = continuation.parsed;
    auto action = trigger->actions[continuation.action];
    auto trigger_number = continuation.trigger;
    auto scope = continuation.scope;
    auto firing = Firing{*this, event, trigger_number, scope, continuation.fire};
    firing.resume({.number = number,
                   .action = continuation.action,
                   .base = continuation.base,
                   .items = continuation.items,
                   .next = state_.continuation_next.at(number)});
    auto done = action->perform(firing);
    if (!done) {
        if (state_.continuations.contains(number)) {
            record(Advanced{.number = number, .is_done = true});
        }
        fault(trigger_number, *trigger, done.error(), scope, event);
        return Fate::Failed;
    }
    return Fate::Handled;
}

} // namespace sluice::trigger
