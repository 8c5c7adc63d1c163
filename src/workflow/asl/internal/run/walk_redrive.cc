#include <algorithm>
#include <utility>

#include "trigger/arrival.h"
#include "workflow/asl/internal/errors.h"
#include "workflow/asl/internal/run/walk.h"
#include "workflow/asl/internal/run/words.h"

// An execution that ended without success and goes on: at the states that were under way, each with
// what it was entered with. Branches and items that had succeeded stay as they are.
namespace sluice::workflow::asl::internal::run {

namespace {

bool is_distributed_map(const State& state) {
    const auto* map = std::get_if<MapState>(&state.details);
    return map != nullptr && map->is_distributed;
}

/// The attempts of a retrier that a state which waits for its children has made.
std::uint64_t tries_in(const Value& memory, std::size_t retrier) {
    const auto* tries = memory.find("tries");
    return tries == nullptr || tries->size() <= retrier
               ? 0
               : static_cast<std::uint64_t>(tries->as_list()[retrier].as_int());
}

} // namespace

bool Walk::is_fatal(const Frame& frame, const Failure& failure) const {
    for (const auto* at = &frame; at->outer != nullptr; at = at->outer) {
        auto owner = *machine().flows[at->flow].owner;
        const auto& state = machine().states[owner];
        if (is_distributed_map(state)) {
            return false; // The child has failed, which its map run may tolerate.
        }
        if (is_final(failure)) {
            continue;
        }
        if (auto retrier = find_retrier(state.retry, failure)) {
            const auto* tries = at->fan != nullptr ? &at->fan->visit.tries : nullptr;
            auto made = tries == nullptr
                            ? tries_in(memory_of(*at->outer->scope, trigger::TriggerNumber{owner}),
                                       *retrier)
                        : tries->size() > *retrier ? (*tries)[*retrier]
                                                   : 0;
            if (made < state.retry[*retrier].attempts_max) {
                return false;
            }
        }
        if (find_catcher(state.catches, failure)) {
            return false;
        }
    }
    return true;
}

bool Walk::ends_run(const Visit& visit, const Failure& failure) const {
    const auto& state = visit.state;
    if (!is_final(failure)) {
        auto retrier = find_retrier(state.retry, failure);
        auto made = retrier && visit.tries.size() > *retrier ? visit.tries[*retrier] : 0;
        if ((retrier && made < state.retry[*retrier].attempts_max) ||
            find_catcher(state.catches, failure)) {
            return false;
        }
    }
    return is_fatal(visit.frame, failure);
}

Step Walk::give_up(Visit& visit, Failure failure) {
    if (is_ending_) {
        return Step::failed(std::move(failure), visit.number);
    }
    if (visit.frame.hides_outer) {
        visit.frame.tally->failed_at =
            Value::object({{"state", as_value(visit.number)}, {"input", visit.input}});
        forget(visit);
    } else if (visit.frame.outer == nullptr && visit.is_kept) {
        store(visit, words::failed);
    } else if (visit.frame.outer == nullptr) {
        failed_at_ = Value::object({{"state", as_value(visit.number)}, {"input", visit.input}});
        forget(visit);
    } else if (is_fatal(visit.frame, failure)) {
        is_ending_ = true;
        store(visit, words::failed);
    } else {
        forget(visit);
    }
    return Step::failed(std::move(failure), visit.number);
}

void Walk::find_places(trigger::Incarnation scope, Places& places) const {
    for (auto number = StateNumber{0}; number < machine().states.size(); ++number) {
        auto trigger = trigger::TriggerNumber{number};
        if (memory_of(scope, trigger).find("entered") == nullptr) {
            continue;
        }
        auto inner = fan_scope_of(scope, trigger);
        auto place = Place{.scope = scope, .state = number};
        if (!inner) {
            places.leaves.push_back(place);
            continue;
        }
        if (is_distributed_map(machine().states[number])) {
            places.map_runs.push_back(place);
            continue;
        }
        for (const auto& [index, child] : children_of(*inner)) {
            find_places(child, places);
        }
        places.owners.push_back(place);
    }
}

void Walk::enter_again(const Place& place, std::uint64_t last) {
    auto visit = visit_at(place.scope, place.state);
    if (!visit) {
        return;
    }
    auto input = visit->input;
    forget(*visit);
    auto& frame = visit->frame;
    frame.last = last;
    conclude(&frame, go(frame, place.state, std::move(input)));
}

/// It may have had children that were still to begin.
void Walk::go_on_with_children(const Place& place) {
    auto visit = visit_at(place.scope, place.state);
    if (!visit || !fan_scope_of(place.scope, trigger::TriggerNumber{place.state})) {
        return;
    }
    auto fan = Fan{*visit};
    load_fan(fan);
    if (fan.next < fan.size && fan.running < fan.concurrency) {
        conclude(&visit->frame, run_children(fan));
    }
}

void Walk::redrive() {
    auto& frame = load_frame(trigger::root_scope, 0);
    auto data = firing_.event().data();
    const auto* status = data.find("status");
    if (status != nullptr && *status != Value{to_string(trigger::Status::Failed)}) {
        auto is_timeout = *status == Value{to_string(trigger::Status::TimedOut)};
        tell(*frame.tally, "Execution", is_timeout ? "TimedOut" : "Aborted", 0,
             [] { return Value{}; });
    }
    auto last = tell(*frame.tally, "Execution", "Redriven", frame.tally->events, [&] {
        return Value::object({{"redriveCount", as_value(state().info.generation - 1)}});
    });
    const auto* failed = memory_of(trigger::root_scope, program_.machine_trigger()).find("failed");
    if (failed != nullptr) {
        frame.last = last;
        auto number = static_cast<StateNumber>(count_at(*failed, "state"));
        conclude(&frame, go(frame, number, *failed->find("input")));
        finish();
        return;
    }
    auto places = Places{};
    find_places(trigger::root_scope, places);
    if (places.leaves.empty() && places.map_runs.empty() && places.owners.empty()) {
        frame.last = last;
        conclude(&frame, go(frame, machine().flows.front().start, state().info.input));
    }
    auto is_here = [this](const Place& place) {
        return !state().is_over() && state().path_of(place.scope) != nullptr;
    };
    for (const auto& place : places.leaves) {
        if (is_here(place)) {
            enter_again(place, last);
        }
    }
    for (const auto& place : places.map_runs) {
        if (is_here(place)) {
            redrive_map_run(place, last);
        }
    }
    for (const auto& place : places.owners) {
        if (is_here(place)) {
            go_on_with_children(place);
        }
    }
    finish();
}

} // namespace sluice::workflow::asl::internal::run
