#include <utility>

#include <fmt/format.h>

#include "workflow/asl/internal/run/map_fields.h"
#include "workflow/asl/internal/run/walk.h"

// What somebody outside says to a map run that goes on.
namespace sluice::workflow::asl::internal::run {

namespace {

/// What somebody outside may have written.
std::optional<std::uint64_t> given_count(const Value& params, std::string_view name) {
    const auto* found = params.find(name);
    return found != nullptr && found->is_int() && found->as_int() >= 0
               ? std::optional{static_cast<std::uint64_t>(found->as_int())}
               : std::nullopt;
}

std::unexpected<expr::Fault> no_map_run() {
    return std::unexpected(expr::Fault{.code = "no_map_run",
                                       .message = "no map run that goes on began with this event"});
}

} // namespace

/// The scope of the map run that began with this event.
std::optional<std::pair<trigger::Incarnation, StateNumber>> Walk::find_map_run(
    std::uint64_t started) {
    for (const auto& [path, scope] : state().scopes) {
        const auto* event = scope.variables.find("started");
        if (event == nullptr || *event != as_value(started) || !state().scope_at(path)) {
            continue;
        }
        for (auto number = StateNumber{0}; number < machine().states.size(); ++number) {
            const auto* map = std::get_if<MapState>(&machine().states[number].details);
            if (map != nullptr && map->is_distributed &&
                memory_of(scope.incarnation, trigger::TriggerNumber{number}).is_map() &&
                memory_of(scope.parent, trigger::TriggerNumber{number}).is_map() &&
                !load_frame(scope.parent, machine().states[number].flow).tally->is_of_child) {
                return std::pair{scope.incarnation, number};
            }
        }
    }
    return std::nullopt;
}

trigger::Attempt<void> Walk::update_map_run(const Value& params) {
    auto found = find_map_run(given_count(params, "started").value_or(0));
    if (!found) {
        return no_map_run();
    }
    auto [scope, number] = *found;
    auto around = state().scopes.find(*state().path_of(scope))->second.parent;
    auto& frame = load_frame(around, machine().states[number].flow);
    auto visit = Visit{machine(), number, frame};
    visit.restore(memory_of(around, trigger::TriggerNumber{number}));
    visit.is_stored = true;
    auto fan = Fan{visit};
    fan.scope = scope;
    load_fan(fan);
    if (auto most = given_count(params, "concurrency")) {
        fan.concurrency = *most == 0 ? Fan{visit}.concurrency : *most;
    }
    fan.tolerated = given_count(params, "tolerated").value_or(fan.tolerated);
    if (const auto* share = params.find("tolerated_share");
        share != nullptr && share->is_double()) {
        fan.tolerated_share = share->as_double();
    } else if (auto whole = given_count(params, "tolerated_share")) {
        fan.tolerated_share = static_cast<double>(*whole);
    }
    firing_.record(trigger::VariablesSet{.path = path_of(scope), .variables = fan.plan()});
    hear_limits(fan);
    conclude(&frame, run_children(fan));
    finish();
    return {};
}

trigger::Attempt<void> Walk::stop_child(const Value& params) {
    auto found = find_map_run(given_count(params, "started").value_or(0));
    if (!found) {
        return no_map_run();
    }
    auto index = given_count(params, "index").value_or(0);
    auto scope = state().scope_at(fmt::format("{}/{}", path_of(found->first), index));
    if (!scope) {
        return std::unexpected(
            expr::Fault{.code = "no_child", .message = "no child that goes on has this index"});
    }
    auto flow = std::get<MapState>(machine().states[found->second].details).processor;
    auto& child = load_frame(*scope, flow);
    child.last = child.tally->events;
    child.tally->failed_at = place_in_child(flow, *scope);
    auto step =
        Step::failed({.error = text_in(params, "error"), .cause = text_in(params, "cause")});
    step.is_aborted = true;
    step = hand_over(child, std::move(step));
    conclude(child.outer, std::move(step));
    finish();
    return {};
}

} // namespace sluice::workflow::asl::internal::run
