#include <algorithm>
#include <utility>

#include <boost/container/small_vector.hpp>

#include "trigger/decider.h"
#include "trigger/firing.h"

namespace sluice::trigger {

namespace {

// Interceptors of interceptors form no cycle; this bounds how long their chain may be.
constexpr auto fire_depth_max = std::uint32_t{64};
// A trigger whose size another sets fires at once, and may set the other's.
constexpr auto fires_of_event_max = std::uint64_t{10'000};

} // namespace

Fate Decider::deliver_in(Incarnation scope, const event::Event& event) {
    auto matches = Matches{};
    auto patterns = boost::container::small_vector<std::uint32_t, 8>{};
    auto view = event::EventView{event};
    triggers_.match(view, matches);
    auto is_taken = false;
    auto is_parked = false;
    auto is_gone = false;
    // A trigger may end the run or close this scope: those behind it are gone then.
    auto is_alive = [&] { return !state_.is_over() && state_.path_of(scope) != nullptr; };
    for (auto at = std::size_t{0}; at < matches.size() && is_alive();) {
        auto number = matches[at].trigger;
        patterns.clear();
        for (; at < matches.size() && matches[at].trigger == number; ++at) {
            patterns.push_back(matches[at].pattern);
        }
        const auto* trigger = triggers_.get(number);
        if (trigger == nullptr) {
            continue; // An earlier trigger of this event removed it.
        }
        // What it is comes from memory while what it remembers is looked for.
        __builtin_prefetch(trigger);
        auto* remembered = state_.find_trigger(scope, number);
        if (remembered != nullptr && remembered->is_gone) {
            is_gone = true;
        } else if (!is_enabled(remembered, *trigger)) {
            is_parked |= trigger->spec.while_disabled == WhileDisabled::Park;
            is_gone |= trigger->spec.while_disabled == WhileDisabled::Miss;
        } else {
            is_taken |= activate({number, *trigger, scope, remembered, patterns}, view);
        }
    }
    if (has_failed_) {
        return Fate::Failed;
    }
    if (is_taken) {
        return has_fired_ ? Fate::Fired : Fate::Activated;
    }
    // What a filter kept away counts as if it had been offered: a filter is asked last.
    if (triggers_.has_filters()) {
        note_withdrawn(scope, event, is_parked, is_gone);
    }
    if (is_parked) {
        return keep(KeptReason::Disabled, scope, event);
    }
    // A straggler of a trigger that has fired and gone is late; it does not wait for another.
    if (is_gone) {
        return Fate::Late;
    }
    auto is_own_kind = event.type().starts_with(types::reserved_prefix);
    return triggers_.spec().keeps_unmatched && !is_own_kind
               ? keep(KeptReason::Unmatched, scope, event)
               : Fate::Unmatched;
}

void Decider::note_withdrawn(Incarnation scope, const event::Event& event, bool& is_parked,
                             bool& is_gone) const {
    const auto* states = state_.triggers_in(scope);
    if (states == nullptr) {
        return;
    }
    for (auto [raw, remembered] : *states) {
        auto number = TriggerNumber{raw};
        const auto* trigger = triggers_.get(number);
        auto is_awaiting = [&](const Pattern& pattern) {
            return pattern.matches(event.type(), event.subject());
        };
        if (trigger == nullptr || !std::ranges::any_of(trigger->spec.on, is_awaiting)) {
            continue;
        }
        if (remembered->is_gone) {
            is_gone = true;
        } else if (!is_enabled(remembered, *trigger)) {
            is_parked |= trigger->spec.while_disabled == WhileDisabled::Park;
            is_gone |= trigger->spec.while_disabled == WhileDisabled::Miss;
        }
    }
}

bool Decider::activate(const Meeting& meeting, event::EventView& view) {
    const auto& [number, trigger, scope, remembered, patterns] = meeting;
    const auto& event = view.event();
    auto bindings = RunBindings{state_, triggers_, event, moment_, number, scope, &view};
    if (trigger.filter) {
        auto outcome = trigger.filter->evaluate(bindings);
        if (const auto* failed = std::get_if<expr::Fault>(&outcome)) {
            fault(number, trigger, *failed, scope, event);
            return true;
        }
        const auto& value = std::get<Value>(outcome);
        if (!value.is_bool() || !value.as_bool()) {
            return false;
        }
    }
    if (scope != root_scope && trigger.condition->deadline() && !deadline_of(number, scope)) {
        arm_deadline(number, scope);
    }
    static const auto untouched = TriggerState{};
    auto verdict =
        trigger.condition->evaluate({.event = event,
                                     .patterns = patterns,
                                     .state = remembered == nullptr ? untouched : *remembered,
                                     .memory = memory_of(remembered, trigger),
                                     .bindings = bindings});
    follow(meeting, verdict, event);
    return true;
}

void Decider::follow(const Meeting& meeting, const Verdict& verdict, const event::Event& event) {
    const auto& [number, trigger, scope, remembered, patterns] = meeting;
    record({.scope = scope, .trigger = number, .progress = verdict.progress, .seen = verdict.seen},
           remembered);
    if (verdict.answer == Verdict::Answer::Fault) {
        fault(number, trigger, *verdict.fault, scope, event);
    } else if (verdict.answer == Verdict::Answer::Fire) {
        fire(number, trigger, scope, event, verdict.progress);
    }
}

void Decider::fire(TriggerNumber number, const CompiledTrigger& trigger, Incarnation scope,
                   const event::Event& event, std::uint64_t progress) {
    if (is_runaway(number, trigger)) {
        return;
    }
    auto fire = FireNumber{state_.progress.fires + 1};
    auto is_transient = trigger.spec.lifetime == Lifetime::Transient;
    record(Fired{.scope = scope, .trigger = number, .fire = fire, .is_gone = is_transient});
    has_fired_ = true;
    if (trigger.condition->deadline()) {
        if (auto timer = deadline_of(number, scope)) {
            remove_timer(*timer);
        }
        if (!is_transient) {
            arm_deadline(number, scope);
        }
    }
    ++fire_depth_;
    // Made now: an interceptor may close the scope, and paths are seen from where it was.
    auto firing = Firing{*this, event, number, scope, fire, progress};
    if (!triggers_.has_interceptors()) {
        perform(trigger, firing);
        --fire_depth_;
        return;
    }
    auto interceptors = triggers_.interceptors_of(number);
    intercept(interceptors, InterceptWhen::Before, scope, event);
    if (!intercept(interceptors, InterceptWhen::Instead, scope, event)) {
        perform(trigger, firing);
    }
    intercept(interceptors, InterceptWhen::After, scope, event);
    --fire_depth_;
}

bool Decider::is_runaway(TriggerNumber number, const CompiledTrigger& trigger) {
    // Those that the event itself activates are as many as it matches; what they let fire is
    // counted.
    if (fire_depth_ == 0 ||
        (fire_depth_ < fire_depth_max && ++fires_of_event_ <= fires_of_event_max)) {
        return false;
    }
    auto message = std::string{"one event let triggers fire each other without end"};
    record(Faulted{.trigger = number, .code = "budget", .message = message});
    has_failed_ = true;
    end_run(
        Status::Failed, {},
        Value::object({{"kind", "budget"}, {"message", message}, {"trigger", trigger.spec.id}}));
    return true;
}

bool Decider::intercept(const std::vector<TriggerNumber>& interceptors, InterceptWhen when,
                        Incarnation scope, const event::Event& event) {
    auto has_stood_in = false;
    auto view = event::EventView{event};
    for (auto number : interceptors) {
        const auto* trigger = triggers_.get(number);
        if (trigger == nullptr || trigger->spec.intercept->when != when || state_.is_over() ||
            state_.path_of(scope) == nullptr) {
            continue;
        }
        auto* remembered = state_.find_trigger(scope, number);
        auto is_gone = remembered != nullptr && remembered->is_gone;
        if (is_gone || !is_enabled(remembered, *trigger)) {
            continue;
        }
        auto fires_before = state_.progress.fires;
        activate({number, *trigger, scope, remembered, {}}, view);
        has_stood_in |= state_.progress.fires != fires_before;
    }
    return has_stood_in;
}

void Decider::perform(const CompiledTrigger& trigger, Firing& firing) {
    // An action may replace or remove this trigger; it stays alive until the next event.
    const auto& actions = trigger.actions;
    for (auto at = std::uint32_t{0}; at < actions.size() && !state_.is_over(); ++at) {
        firing.begin_action(at);
        auto done = actions[at]->perform(firing);
        if (!done) {
            fault(firing.trigger(), trigger, done.error(), firing.scope(), firing.event());
            return;
        }
    }
}

void Decider::fault(TriggerNumber number, const CompiledTrigger& trigger, const expr::Fault& fault,
                    Incarnation scope, const event::Event& event) {
    record(Faulted{.trigger = number, .code = fault.code, .message = fault.message});
    has_failed_ = true;
    switch (trigger.spec.on_error) {
        case OnError::Skip: return;
        case OnError::Park: keep(KeptReason::Failed, scope, event); return;
        case OnError::Fail: break;
    }
    if (!state_.is_over()) {
        end_run(
            Status::Failed, {},
            Value::object(
                {{"kind", fault.code}, {"message", fault.message}, {"trigger", trigger.spec.id}}));
    }
}

bool has_room_to_keep(const RunState& state, const SetSpec& spec, std::size_t bytes) {
    return state.kept.size() < spec.kept_max &&
           state.progress.kept_bytes + bytes <= spec.kept_bytes_max;
}

Fate Decider::keep(KeptReason reason, Incarnation scope, const event::Event& event) {
    const auto& spec = triggers_.spec();
    if (state_.kept.contains(number_)) {
        return Fate::Parked; // Two triggers failed on it.
    }
    if (has_room_to_keep(state_, spec, event.json().size())) {
        return keep_now(reason, scope, event);
    }
    // What the run brought about itself nobody can send again, and what failed was taken already.
    auto can_come_again = is_from_outside(origin_) && reason != KeptReason::Failed;
    if (can_come_again && spec.kept_full != KeptFull::Fail) {
        return spec.kept_full == KeptFull::Refuse ? Fate::Refused : Fate::Busy;
    }
    if (!state_.has_ended()) {
        auto message = fmt::format("{} events wait already, and \"{}\" of type {} would too",
                                   state_.kept.size(), event.id(), event.type());
        end_run(Status::Failed, {},
                Value::object({{"kind", "kept_full"}, {"message", std::move(message)}}));
    }
    return Fate::Failed;
}

Fate Decider::keep_now(KeptReason reason, Incarnation scope, const event::Event& event) {
    record(EventKept{.number = number_,
                     .event = {.reason = reason,
                               .since = moment_.time,
                               .json = std::string{event.json()},
                               .scope = scope,
                               .sender = sender_}});
    if (!state_.is_over()) {
        arm_kept_ttl(number_, state_.kept.at(number_));
    }
    return reason == KeptReason::Unmatched ? Fate::Kept : Fate::Parked;
}

bool Decider::is_held(Incarnation scope, std::optional<TriggerNumber> answered) const {
    if (state_.is_queued() || state_.is_paused()) {
        return true;
    }
    if (state_.holds.empty()) {
        return false;
    }
    auto at = std::optional{scope};
    while (at) {
        auto hold = state_.holds.find(*at);
        if (hold != state_.holds.end() && hold->second.by != answered) {
            return true;
        }
        if (*at == root_scope) {
            return false;
        }
        const auto* path = state_.path_of(*at);
        at = path == nullptr ? std::nullopt
                             : std::optional{state_.scopes.find(*path)->second.parent};
    }
    return false;
}

void Decider::recheck(TriggerNumber number, Incarnation scope, const event::Event& event) {
    const auto* trigger = triggers_.get(number);
    auto* remembered = state_.find_trigger(scope, number);
    if (trigger == nullptr || remembered == nullptr || remembered->is_gone ||
        !is_enabled(remembered, *trigger)) {
        return;
    }
    auto bindings = RunBindings{state_, triggers_, event, moment_, number, scope};
    auto verdict = trigger->condition->recheck({.event = event,
                                                .patterns = {},
                                                .state = *remembered,
                                                .memory = memory_of(remembered, *trigger),
                                                .bindings = bindings});
    if (verdict.answer != Verdict::Answer::Wait) {
        follow({number, *trigger, scope, remembered, {}}, verdict, event);
    }
}

} // namespace sluice::trigger
