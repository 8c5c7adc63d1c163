#include <algorithm>
#include <utility>

#include "trigger/decider.h"

// How a run goes on after one of its generations: as new, or reopened.
namespace sluice::trigger {

void Decider::continue_as_new(Renewal next) {
    if (state_.progress.is_cancelling) {
        end_run(Status::Cancelled, {}, {});
        return;
    }
    auto is_swept = can_close_at_once(true);
    if (is_swept) {
        announce_dropped_tasks();
    }
    record(Renewing{.renewal = std::move(next), .is_swept = is_swept});
}

bool Decider::counts_when_over(const Arrival& arrival) const {
    if (is_delivery(arrival) || arrival.origin == Origin::Sweep) {
        return true;
    }
    auto type = arrival.event.type();
    if (state_.has_ended()) {
        return arrival.origin == Origin::Command && type == types::run_reopened &&
               state_.progress.status != Status::Succeeded && !state_.progress.is_sweeping;
    }
    return is_from_outside(arrival.origin) || is_place_answer(arrival) ||
           (arrival.origin == Origin::Command &&
            (type == types::run_started || type == types::run_cancel ||
             type == types::run_terminate));
}

bool Decider::begin_next_generation() {
    // One that continues at once, again and again, must leave room for others and has an end.
    if (!state_.progress.renewal || state_.progress.is_sweeping ||
        turn_events_ >= limits_.own_events_per_turn_max) {
        return false;
    }
    if (spend_own_event()) {
        decide_one(renew_arrival(state_, moment_));
    }
    return true;
}

void Decider::renew(const Renewed& renewed) {
    record(renewed);
    if (!state_.info.set.empty()) {
        triggers_.reset();
    }
    // Dedupe begins anew, but what is kept is not to come twice.
    for (const auto& [number, kept] : state_.kept) {
        note_id(load(kept.json));
    }
    offer_kept_again();
}

Fate Decider::reopen_run(const Arrival& arrival) {
    if (!state_.has_ended()) {
        return Fate::Late;
    }
    record(Reopened{.generation = state_.info.generation + 1});
    adopt(arrival.event);
    if (wait_for_place(arrival.event)) {
        return Fate::Parked;
    }
    arm_run_timers();
    offer_kept_again();
    offers_failed_ = true;
    auto fate = deliver_in(root_scope, arrival.event);
    return fate == Fate::Unmatched ? Fate::Handled : fate;
}

void Decider::arm_run_timers() {
    if (auto timeout = triggers_.spec().timeout; timeout > Nanos{0}) {
        auto timer = TimerState{.purpose = TimerPurpose::RunTimeout};
        timer.due = moment_.steady + timeout;
        set_timer(std::move(timer));
    }
    auto arm = [&](TriggerNumber number) {
        if (is_waiting(number, root_scope)) {
            arm_deadline(number, root_scope);
        }
    };
    for (auto number : triggers_.set().with_deadline()) {
        if (!state_.overrides.contains(number)) {
            arm(number);
        }
    }
    for (const auto& [number, form] : state_.overrides) {
        arm(number);
    }
}

void Decider::arm_kept_ttl(EventNumber number, const KeptEvent& kept) {
    auto ttl = triggers_.spec().kept_ttl;
    if (ttl == Nanos{0} || kept.reason == KeptReason::Failed) {
        return;
    }
    auto timer = TimerState{.purpose = TimerPurpose::KeptTtl};
    timer.due = moment_.steady + std::max(Nanos{0}, ttl - (moment_.time - kept.since));
    timer.task.index = number.raw();
    set_timer(std::move(timer));
}

void Decider::offer_kept_again() {
    has_released_ = true;
    offers_all_ = true;
    kept_cursor_ = EventNumber{0};
    for (const auto& [number, kept] : state_.kept) {
        arm_kept_ttl(number, kept);
    }
}

} // namespace sluice::trigger
