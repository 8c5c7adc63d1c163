#include "trigger/decider.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "trigger/apply.h"
#include "value/json.h"

namespace sluice::trigger {

namespace {

bool leaves_unswept(const Change& change) {
    const auto* closed = std::get_if<ScopeClosed>(&change);
    const auto* renewing = std::get_if<Renewing>(&change);
    return (closed != nullptr && !closed->is_swept) || (renewing != nullptr && !renewing->is_swept);
}

/// Changes that reach beyond the run: somebody else must act on them after the commit.
bool is_effect(const Change& change) {
    return std::holds_alternative<TaskOpened>(change) ||
           std::holds_alternative<TaskClosed>(change) ||
           std::holds_alternative<TaskRetried>(change) ||
           std::holds_alternative<TimerSet>(change) || std::holds_alternative<Sent>(change) ||
           std::holds_alternative<Ended>(change) || std::holds_alternative<Replied>(change) ||
           std::holds_alternative<Renewed>(change) || leaves_unswept(change);
}

/// Of an event that is not handed on only its identity is recorded: what it is known by.
std::string identity_of(const event::Event& event) {
    auto text = std::string{R"({"id":)"};
    value::write_json_string(event.id(), text);
    text += R"(,"source":)";
    value::write_json_string(event.source(), text);
    text += R"(,"type":)";
    value::write_json_string(event.type(), text);
    if (auto sequence = event.attribute("sequence"); sequence && sequence->is_string()) {
        text += R"(,"sequence":)";
        value::write_json_string(sequence->as_string(), text);
    }
    text += '}';
    return text;
}

} // namespace

void Decider::record(const Activated& change, TriggerState* known) {
    journal_.add(change);
    apply(state_, change, known);
}

void Decider::record(Change&& change) {
    // Who sent the event of an own or kept one is not the one who waits now, unless a run did.
    const auto* replied = std::get_if<Replied>(&change);
    auto is_heard =
        replied == nullptr || replied->to || (origin_ != Origin::Own && origin_ != Origin::Kept);
    journal_.add(change);
    trigger::apply(state_, change);
    if (is_effect(change) && is_heard) {
        journal_.effects.push_back(std::move(change));
    }
}

Fate Decider::decide(const Arrival& arrival) {
    turn_events_ = 0;
    triggers_.drop_replaced();
    auto fate = decide_one(arrival);
    settle();
    return fate;
}

Fate Decider::set_aside(const Arrival& arrival, const std::string& reason) {
    moment_ = arrival.moment;
    number_ = EventNumber{++state_.progress.events};
    journal_.begin(number_, arrival, arrival.event.json());
    note_sender(arrival);
    if (is_from_outside(arrival.origin)) {
        note_id(arrival.event);
    }
    record(Faulted{.trigger = command_trigger, .code = "set_aside", .message = reason});
    keep_now(KeptReason::Failed, state_.scope_at(arrival.event.scope()).value_or(root_scope),
             arrival.event);
    journal_.end(Fate::Failed);
    return Fate::Failed;
}

void Decider::settle_queue(Moment moment) {
    moment_ = moment;
    turn_events_ = 0;
    settle();
}

void Decider::take_turn(Moment moment) {
    moment_ = moment;
    turn_events_ = 0;
    auto numbers = std::vector<std::uint64_t>{};
    for (const auto& [number, continuation] : state_.continuations) {
        numbers.push_back(number);
    }
    settle();
    for (auto number : numbers) {
        // A slice may have closed the scope of another, or ended the run.
        if (state_.continuations.contains(number) && !state_.is_over()) {
            // Each slice has a budget of its own: replay, which sees no turns, stops at the same
            // event.
            decide(continue_arrival(state_, number, moment));
        }
    }
    if (state_.has_unswept()) {
        decide(sweep_arrival(state_, moment));
    }
}

Fate Decider::decide_one(const Arrival& arrival) {
    moment_ = arrival.moment;
    number_ = EventNumber{++state_.progress.events};
    has_fired_ = false;
    has_failed_ = false;
    origin_ = arrival.origin;
    fires_of_event_ = 0;
    auto fate = Fate::Late;
    auto is_new = true;
    note_sender(arrival);
    if (renews_budget(arrival.origin) && !state_.has_ended()) {
        state_.progress.own_events = 0;
    }
    if (is_from_outside(arrival.origin) && !state_.has_ended()) {
        is_new = note_id(arrival.event);
    }
    if (!is_new || (state_.is_over() && !counts_when_over(arrival))) {
        journal_.begin(number_, arrival, identity_of(arrival.event));
        state_.progress.duplicates += is_new ? 0 : 1;
        fate = is_new ? Fate::Late : Fate::Duplicate;
    } else {
        journal_.begin(number_, arrival, arrival.event.json());
        fate = dispatch(arrival);
    }
    journal_.end(fate);
    return fate;
}

void Decider::note_sender(const Arrival& arrival) {
    if (arrival.origin == Origin::Run) {
        sender_ = sender_of(arrival);
    } else {
        sender_.reset();
    }
}

Fate Decider::dispatch(const Arrival& arrival) {
    switch (arrival.origin) {
        case Origin::Outside:
        case Origin::Run: return decide_outside(arrival);
        case Origin::Returned: return decide_returned(arrival);
        case Origin::Own: return decide_own(arrival);
        case Origin::Kept: return decide_kept(arrival);
        case Origin::Task: return decide_answer(arrival);
        case Origin::Timer: return decide_timer(arrival);
        case Origin::Command: return decide_command(arrival);
        case Origin::Continue: return decide_slice(arrival);
        case Origin::Sweep: return sweep();
    }
    return Fate::Late;
}

Fate Decider::decide_outside(const Arrival& arrival) {
    auto scope = state_.scope_at(arrival.event.scope());
    auto is_between = state_.is_over(); // It waits for the next generation, which has only a root.
    if (!scope || (is_between && *scope != root_scope)) {
        return Fate::Late;
    }
    auto fate = is_between || is_held(*scope, std::nullopt)
                    ? keep(KeptReason::Held, *scope, arrival.event)
                    : deliver_in(*scope, arrival.event);
    if (fate == Fate::Refused || fate == Fate::Busy) {
        forget_id(arrival.event); // It may be sent again.
    }
    return fate;
}

Fate Decider::decide_own(const Arrival& arrival) {
    return state_.path_of(own_scope_) == nullptr ? Fate::Late
                                                 : deliver_in(own_scope_, arrival.event);
}

Fate Decider::decide_returned(const Arrival& arrival) {
    if (is_place_answer(arrival)) {
        return decide_place(arrival);
    }
    auto scope = Incarnation{arrival.refs[2]};
    auto trigger = TriggerNumber{static_cast<std::uint32_t>(arrival.refs[3])};
    if (state_.path_of(scope) == nullptr) {
        return Fate::Late;
    }
    return is_held(scope, trigger) ? keep(KeptReason::Held, scope, arrival.event)
                                   : deliver_in(scope, arrival.event);
}

Fate Decider::decide_kept(const Arrival& arrival) {
    number_ = EventNumber{arrival.refs[0]};
    auto scope = state_.kept.at(number_).scope;
    sender_ = state_.kept.at(number_).sender;
    record(EventReleased{.number = number_});
    return state_.path_of(scope) == nullptr ? Fate::Late : deliver_in(scope, arrival.event);
}

void Decider::settle() {
    // Kept events are bounded already, and who woke them is not remembered beyond this turn.
    while (begin_next_generation() ||
           (!state_.is_over() && (deliver_next_kept() || deliver_next_own()))) {
    }
}

std::optional<bool> Decider::is_deliverable_as_kept(const KeptEvent& kept) const {
    if (kept.reason == KeptReason::Failed && !offers_failed_) {
        return false;
    }
    if (state_.path_of(kept.scope) == nullptr) {
        return true; // Late now.
    }
    if (is_held(kept.scope, std::nullopt)) {
        return false;
    }
    if (kept.reason == KeptReason::Held) {
        return has_released_;
    }
    return awakened_.empty() && !offers_all_ ? std::optional{false} : std::nullopt;
}

bool Decider::is_waiting(TriggerNumber number, Incarnation scope) const {
    const auto* trigger = triggers_.get(number);
    const auto* remembered = state_.find_trigger(scope, number);
    auto is_gone = remembered != nullptr && remembered->is_gone;
    return trigger != nullptr && !is_gone && is_enabled(remembered, *trigger);
}

bool Decider::is_awaited(const KeptEvent& kept, const event::Event& event) const {
    if (offers_all_) {
        auto matches = Matches{};
        triggers_.match(event.type(), event.subject(), matches);
        return std::ranges::any_of(
            matches, [&](const Match& match) { return is_waiting(match.trigger, kept.scope); });
    }
    return std::ranges::any_of(awakened_, [&](TriggerNumber number) {
        return is_waiting(number, kept.scope) &&
               std::ranges::any_of(triggers_.get(number)->spec.on, [&](const Pattern& pattern) {
                   return pattern.matches(event.type(), event.subject());
               });
    });
}

bool Decider::deliver_next_kept() {
    if (awakened_.empty() && !has_released_ && !offers_all_) {
        return false;
    }
    for (auto it = state_.kept.upper_bound(kept_cursor_); it != state_.kept.end(); ++it) {
        kept_cursor_ = it->first;
        auto is_deliverable = is_deliverable_as_kept(it->second);
        if (is_deliverable == false) {
            continue;
        }
        auto event = load(it->second.json);
        if (!is_deliverable && !is_awaited(it->second, event)) {
            continue;
        }
        auto number = it->first;
        auto arrival = Arrival{.origin = Origin::Kept,
                               .event = std::move(event),
                               .moment = moment_,
                               .refs = {number.raw(), 0, 0, 0}};
        decide_one(arrival);
        return true;
    }
    awakened_.clear();
    has_released_ = false;
    offers_all_ = false;
    offers_failed_ = false;
    return false;
}

bool Decider::spend_own_event() {
    ++turn_events_;
    if (state_.progress.own_events < limits_.own_events_max) {
        ++state_.progress.own_events;
        return true;
    }
    auto message = fmt::format("{} events emitted to the own run without one from outside",
                               limits_.own_events_max);
    auto error = Value::object({{"kind", "budget"}, {"message", message}});
    decide_one(command_arrival(state_, types::run_terminate,
                               Value::object({{"status", "failed"}, {"error", error}}), moment_));
    return false;
}

bool Decider::deliver_next_own() {
    if (state_.queue.empty() || turn_events_ >= limits_.own_events_per_turn_max) {
        return false;
    }
    if (!spend_own_event()) {
        return true;
    }
    auto queued = std::move(state_.queue.front());
    state_.queue.pop_front();
    own_scope_ = queued.scope;
    if (queued.event.json().empty()) {
        queued.event = load(queued.json);
    }
    decide_one({.origin = Origin::Own,
                .event = std::move(queued.event),
                .moment = moment_,
                .refs = {queued.number, 0, 0, 0}});
    return true;
}

event::Event Decider::load(const std::string& json) {
    auto owner = std::make_shared<std::string>(json);
    owner->append(event::Codec::padding_bytes, '\0');
    auto event = codec_.parse_trusted(std::string_view{*owner}.substr(0, json.size()), owner);
    INVARIANT(event.has_value(), "a run keeps only events that were parsed before");
    return *std::move(event);
}

} // namespace sluice::trigger
