#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "workflow/asl/internal/run/map_fields.h"
#include "workflow/asl/internal/run/walk.h"
#include "workflow/asl/internal/run/words.h"
#include "workflow/asl/resource_names.h"
#include "workflow/asl/result_files.h"

// Distributed maps: their children as executions.
namespace sluice::workflow::asl::internal::run {

namespace {

/// How many items a child has: more than one where they come in batches.
std::uint64_t items_of(const Fan& fan, const Value& item) {
    return fan.are_inputs ? item.find("Value")->find("Items")->size() : 1;
}

/// The event that the map run of a child began with.
std::uint64_t started_in(const trigger::RunState& state, trigger::Incarnation child) {
    auto fan = state.scopes.find(*state.path_of(child))->second.parent;
    return count_at(state.scopes.find(*state.path_of(fan))->second.variables, "started");
}

/// As far as it is there.
Value failure_told(const Failure& failure) {
    auto told = failure.error ? Value::object({{"error", *failure.error}}) : Value::map({});
    return failure.cause ? told.with("cause", *failure.cause) : told;
}

} // namespace

bool Walk::keeps_records(const Fan& fan) {
    const auto* map = std::get_if<MapState>(&fan.visit.state.details);
    return map != nullptr && map->is_distributed && (writes_objects(fan) || is_transformed(fan));
}

/// `MACHINE/LABEL`: how the service names the machine of the children.
std::string Walk::map_machine(const Fan& fan) const {
    const auto& label = map_state(fan).label;
    return fmt::format("{}/{}", state().info.definition,
                       label.empty() ? fan.visit.state.name : label);
}

std::string Walk::map_run_arn(const Fan& fan) const {
    return arn_of(
        program_, "mapRun",
        fmt::format("{}:{}-{}", map_machine(fan), execution_of(fan.visit.frame), fan.started));
}

std::string Walk::execution_of(const Frame& frame) const {
    for (const auto* at = &frame; at != nullptr; at = at->outer) {
        if (at->hides_outer) {
            auto started = at->fan != nullptr ? at->fan->started : started_in(state(), *at->scope);
            return fmt::format("{}-{}-{}", execution_of(*at->outer), started, at->index);
        }
    }
    return execution_name(state().info.definition, state().id);
}

/// Of the map run among all that there ever were, so that no two write to one place.
std::string Walk::map_run_id(const Fan& fan) const {
    auto began = std::to_string(state().info.started.time_since_epoch().count());
    return uuid_of(fmt::format("{}/{}", began, map_run_arn(fan)), std::to_string(fan.started));
}

/// Says where it is found: the name of its map run, and its index.
std::string Walk::child_name(const Fan& fan, std::uint64_t index) const {
    return fmt::format("{}-{}-{}", execution_of(fan.visit.frame), fan.started, index);
}

std::string Walk::heard_name(const Fan& fan, std::uint64_t index) const {
    if (listener_ == nullptr) {
        return {};
    }
    auto name = child_name(fan, index);
    return listener_->cares_for(name) ? name : std::string{};
}

void Walk::hear_of_run(const Tally& tally, Value told) const {
    listener_->hear(firing_.decider().moment(),
                    tally.is_of_child ? told.with("execution", tally.name) : told);
}

void Walk::hear_limits(const Fan& fan) const {
    const auto& tally = *fan.visit.frame.tally;
    if (listener_ == nullptr || !tally.is_heard()) {
        return;
    }
    auto is_bounded = fan.concurrency != Fan{fan.visit}.concurrency;
    auto items = fan.request.is_null() ? fan.size : fan.read;
    if (fan.request.is_null() && fan.are_inputs) {
        items = 0;
        for (auto at = std::uint64_t{0}; at < fan.size; ++at) {
            items += items_of(fan, item_of(fan, at));
        }
    }
    hear_of_run(tally,
                Value::object({{"mapRun", map_run_arn(fan)},
                               {"maxConcurrency", as_value(is_bounded ? fan.concurrency : 0)},
                               {"toleratedFailureCount", as_value(fan.tolerated)},
                               {"toleratedFailurePercentage", fan.tolerated_share},
                               {"executions", as_value(fan.size)},
                               {"items", as_value(items)}}));
}

void Walk::hear_child(const Fan& fan, const Frame& child, std::string_view status,
                      const Value& more) const {
    const auto& tally = *fan.visit.frame.tally;
    if (listener_ == nullptr || !tally.is_heard()) {
        return;
    }
    auto told = Value::object({{"mapRun", map_run_arn(fan)},
                               {"index", as_value(child.index)},
                               {"name", child_name(fan, child.index)},
                               {"items", as_value(items_of(fan, child.item))},
                               {"status", status},
                               {"started", Value{child.tally->started}},
                               {"redrives", as_value(child.tally->redrives)}});
    for (const auto& [name, value] : more.as_map()) {
        told = told.with(name, value);
    }
    hear_of_run(tally, std::move(told));
}

void Walk::begin_execution(Fan& fan, Frame& child, const Value& input) {
    auto& tally = *child.tally;
    tally.started = firing_.decider().moment().time;
    tally.name = heard_name(fan, child.index);
    child.hides_outer = true;
    if (keeps_records(fan)) {
        tally.about = Value::object({{"input", input}, {"started", time_text(tally.started)}});
    }
    auto told = Value::object({{"input", input}});
    hear_child(fan, child, "RUNNING", told);
    tell(tally, "Execution", "Started", 0, [&] { return told; });
}

std::optional<Step> Walk::take_execution(Fan& fan, const Frame& child, Step step) {
    auto is_ended = step.kind == Step::Kind::Ended;
    auto end = std::string_view{is_ended ? "Succeeded" : step.is_aborted ? "Aborted" : "Failed"};
    auto status = std::string_view{is_ended ? "SUCCEEDED" : step.is_aborted ? "ABORTED" : "FAILED"};
    auto told = is_ended ? Value::object({{"output", step.output}}) : failure_told(step.failure);
    tell(*child.tally, "Execution", end, child.last, [&] { return told; });
    if (!is_ended && !keep_child(fan, child)) {
        told = told.with("lost", true);
    }
    hear_child(fan, child, status, told);
    auto result = step.output;
    if (keeps_records(fan)) {
        result = child.tally->about.with("status", status)
                     .with("stopped", time_text(firing_.decider().moment().time));
        result = is_ended ? result.with("output", step.output)
                          : result.with("failure", failure_value(step.failure));
        result = child.tally->redrives == 0
                     ? result
                     : result.with("redrives", as_value(child.tally->redrives));
    }
    if (is_ended || keeps_records(fan)) {
        keep_result(fan, child.index, std::move(result));
    }
    if (!is_ended && !fan.tolerates()) {
        return give_in(fan, {.error = std::string{errors::tolerance},
                             .cause = "The specified tolerated failure threshold was exceeded"});
    }
    if (writes_objects(fan) && fan.bytes >= part_bytes_max) {
        if (auto written = write_part(fan, false); !written) {
            return break_off(fan, fan.visit.frame.last, std::move(written.error()));
        }
    }
    return std::nullopt;
}

Step Walk::finish_map_run(Fan& fan) {
    if (writes_objects(fan)) {
        if (fan.writes > 0) {
            store(fan);
            return {};
        }
        if (auto written = write_part(fan, true); !written) {
            return break_off(fan, fan.visit.frame.last, std::move(written.error()));
        }
        return {};
    }
    if (fan.bytes >= program_.limits.payload_bytes_max) {
        return finish(fan, std::nullopt);
    }
    auto how = transformation_of(fan);
    if (!is_transformed(fan)) {
        return finish(fan, Value::list(results_of(fan)));
    }
    auto names = Value::object({{"machine", arn_of(program_, "stateMachine", map_machine(fan))},
                                {"execution", arn_of(program_, "execution", map_machine(fan))}});
    open(fan);
    return finish(fan, Value::list(transformed(records_in(fan, fan.slot), how, names)));
}

/// Too many have failed: the rest are aborted or do not begin, and all that is told where results
/// are written.
Step Walk::give_in(Fan& fan, Failure failure) {
    if (!writes_objects(fan)) {
        return break_off(fan, fan.visit.frame.last, std::move(failure));
    }
    open(fan);
    fan.failure = failure_value(failure);
    abort_executions(fan, ends_run(fan.visit, failure) ? Keep::Yes : Keep::No);
    auto pend = [&](std::uint64_t index, const Value& input) {
        keep_result(fan, index, Value::object({{"status", "PENDING"}, {"input", input}}));
    };
    for (const auto& [index, about] : kept_since(fan, fan.again > 0 ? fan.again_from : fan.size)) {
        pend(index, about);
    }
    for (auto index = fan.next; index < fan.size; ++index) {
        auto child = Frame{.index = index, .item = item_of(fan, index), .variables = {}};
        auto input = child_input(fan, child);
        pend(index, input ? *input : Value{});
    }
    return finish_map_run(fan);
}

Step Walk::break_off_map_run(Fan& fan, Failure failure) {
    auto& frame = fan.visit.frame;
    cancel_work(fan.visit);
    auto has_begun = fan.scope.has_value() || fan.next > 0;
    fan.visit.is_kept = has_begun && ends_run(fan.visit, failure);
    abort_executions(fan, fan.visit.is_kept ? Keep::Yes : Keep::No);
    if (fan.visit.is_kept) {
        store(fan);
    } else if (fan.scope) {
        firing_.decider().close_scope(path_of(*fan.scope));
    }
    frame.last =
        tell(*frame.tally, "MapRun", "Failed", fan.ended, [&] { return failure_value(failure); });
    return fail(fan.visit, std::move(failure));
}

} // namespace sluice::workflow::asl::internal::run
