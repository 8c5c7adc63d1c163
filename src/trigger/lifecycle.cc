#include <ranges>
#include <utility>

#include "trigger/apply.h"
#include "trigger/decider.h"

namespace sluice::trigger {

void Decider::set_timer(TimerState timer) {
    auto number = TimerNumber{state_.progress.timers + 1};
    record(TimerSet{.number = number, .timer = std::move(timer)});
}

void Decider::remove_timer(TimerNumber number) {
    auto found = state_.timers.find(number);
    if (found == state_.timers.end()) {
        return;
    }
    record(TimerRemoved{
        .number = number, .is_absolute = found->second.is_absolute, .due = found->second.due});
}

std::optional<TimerNumber> Decider::deadline_of(TriggerNumber number, Incarnation scope) const {
    auto members = state_.members.find(scope);
    if (members == state_.members.end()) {
        return std::nullopt;
    }
    for (auto timer : members->second.timers) {
        const auto& each = state_.timers.at(timer);
        if (each.purpose == TimerPurpose::Deadline && each.trigger == number) {
            return timer;
        }
    }
    return std::nullopt;
}

void Decider::arm_deadline(TriggerNumber number, Incarnation scope) {
    const auto* trigger = triggers_.get(number);
    if (trigger == nullptr || !trigger->condition->deadline()) {
        return;
    }
    auto timer = TimerState{.purpose = TimerPurpose::Deadline};
    timer.due = moment_.steady + *trigger->condition->deadline();
    timer.scope = scope;
    timer.trigger = number;
    timer.subject = trigger->spec.id;
    set_timer(std::move(timer));
}

void Decider::switch_trigger(TriggerNumber number, Incarnation scope, Switch enabled) {
    record(Switched{.scope = scope, .trigger = number, .enabled = enabled});
    auto timer = deadline_of(number, scope);
    if (enabled == Switch::On) {
        awakened_.push_back(number);
        kept_cursor_ = EventNumber{0};
        if (!timer) {
            arm_deadline(number, scope);
        }
    } else if (timer) {
        remove_timer(*timer);
    }
}

void Decider::override_trigger(TriggerNumber number, const Value& form,
                               std::shared_ptr<const CompiledTrigger> compiled) {
    record(Overridden{.trigger = number, .form = form});
    auto is_there = compiled != nullptr;
    triggers_.replace(number, std::move(compiled));
    auto timer = deadline_of(number, root_scope);
    if (timer && !is_there) {
        remove_timer(*timer);
    }
    if (is_there) {
        awakened_.push_back(number);
        kept_cursor_ = EventNumber{0};
        if (!timer && triggers_.get(number)->spec.is_enabled) {
            arm_deadline(number, root_scope);
        }
    }
}

void Decider::release_hold(Incarnation scope) {
    record(HoldSet{.scope = scope, .is_held = false});
    has_released_ = true;
    kept_cursor_ = EventNumber{0};
}

void Decider::cancel_task(const TaskKey& key) {
    auto found = state_.tasks.find(key);
    if (found == state_.tasks.end()) {
        return;
    }
    record(TaskClosed{.key = key,
                      .is_cancelled = true,
                      .kind = found->second.kind,
                      .child = found->second.child,
                      .attempt = found->second.attempt});
}

void Decider::announce_dropped(const TaskKey& key, const TaskState& task) {
    if (task.kind != TaskKind::Sink) {
        journal_.effects.emplace_back(TaskClosed{.key = key,
                                                 .is_cancelled = true,
                                                 .kind = task.kind,
                                                 .child = task.child,
                                                 .attempt = task.attempt});
    }
}

void Decider::announce_dropped_tasks() {
    // The latest first, as the sweep does it.
    for (const auto& [key, task] : state_.tasks | std::views::reverse) {
        announce_dropped(key, task);
    }
}

void Decider::close_scope(const std::string& path) {
    auto is_swept = can_close_at_once(path);
    auto inside = is_swept ? scopes_within(state_, path) : std::vector<std::string>{};
    for (const auto& each : inside) {
        auto members = state_.members.find(state_.scopes.at(each).incarnation);
        if (members != state_.members.end()) {
            for (const auto& key : members->second.tasks) {
                announce_dropped(key, state_.tasks.at(key));
            }
        }
    }
    record(ScopeClosed{.path = path, .is_swept = is_swept});
    if (!state_.kept.empty()) {
        has_released_ = true;
        kept_cursor_ = EventNumber{0};
    }
}

void Decider::end_run(Status status, Value result, Value error) {
    auto is_swept = can_close_at_once(status == Status::Succeeded);
    if (is_swept) {
        announce_dropped_tasks();
    }
    if (state_.place) {
        tell_definition(types::place_left, {});
    }
    record(Ended{.status = status,
                 .at = moment_.time,
                 .result = std::move(result),
                 .error = std::move(error),
                 .is_swept = is_swept});
}

} // namespace sluice::trigger
