#include "trigger/internal/places.h"

#include "event/builder.h"
#include "trigger/decider.h"

// How a run whose definition has a strategy waits for its place, and gives it back.
namespace sluice::trigger {

void Decider::tell_definition(std::string_view type, const Value& data) {
    auto id = fmt::format("place/{}/{}", state_.place->asked, type);
    auto event = event::Builder{id, fmt::format("/runs/{}", state_.id), type}.data(data).build();
    auto self = places::asker(state_.id, state_.place->asked);
    record(Sent{.target = standing_run_id(places::kind, triggers_.spec().name),
                .json = std::string{event.json()},
                .key = self.key,
                .scope = self.scope,
                .trigger = self.trigger});
}

void Decider::ask_for_place() {
    record(PlaceSet{.place = Place{.asked = state_.info.generation}});
    auto data = Value::object({{"strategy", to_form(triggers_.spec().strategy)},
                               {"started", Value{state_.info.started.time_since_epoch().count()}}});
    if (const auto* priority = state_.info.labels.find(priority_label)) {
        data = data.with("priority", *priority);
    }
    tell_definition(types::place_wanted, data);
}

bool Decider::wait_for_place(const event::Event& event) {
    if (!triggers_.spec().strategy.is_limiting()) {
        return false;
    }
    ask_for_place();
    // Not by `keep`: this one has room whatever else waits, and does not expire.
    record(EventKept{.number = number_,
                     .event = {.reason = KeptReason::Held,
                               .since = moment_.time,
                               .json = std::string{event.json()},
                               .scope = root_scope,
                               .sender = {}}});
    return true;
}

Fate Decider::decide_place(const Arrival& arrival) {
    if (!state_.place || state_.place->asked != arrival.refs[1]) {
        return Fate::Late;
    }
    auto data = arrival.event.data();
    if (arrival.event.type() != types::reply) {
        end_run(Status::Failed, {}, *data.find("error"));
        return Fate::Handled;
    }
    const auto* answer = data.find("reply");
    if (*answer->find("place") == Value{places::given}) {
        record(PlaceSet{.place = Place{.asked = state_.place->asked, .is_given = true}});
        arm_run_timers();
        has_released_ = true;
        kept_cursor_ = EventNumber{0};
        if (state_.place->asked > 1) { // It was reopened.
            offer_kept_again();
            offers_failed_ = true;
        }
        return Fate::Handled;
    }
    return cancel_run(command_arrival(state_, types::run_cancel,
                                      Value::object({{"error", *answer->find("error")}}), moment_));
}

} // namespace sluice::trigger
