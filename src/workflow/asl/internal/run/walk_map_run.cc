#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "trigger/arrival.h"
#include "value/wording.h"
#include "workflow/asl/compile.h"
#include "workflow/asl/internal/run/json_bytes.h"
#include "workflow/asl/internal/run/walk.h"
#include "workflow/asl/internal/run/words.h"
#include "workflow/asl/resource_names.h"
#include "workflow/asl/result_files.h"

// Distributed maps: their children as executions, and what becomes of their results.
namespace sluice::workflow::asl::internal::run {

namespace {

// As much is kept before it is written, and so much is one file.
constexpr auto part_bytes_max = std::uint64_t{1} << 20U;

const MapState& map_state(const Fan& fan) {
    return std::get<MapState>(fan.visit.state.details);
}

bool writes_objects(const Fan& fan) {
    const auto& writer = map_state(fan).writer;
    return writer && writer->arguments;
}

std::string transformation_of(const Fan& fan) {
    const auto& writer = map_state(fan).writer;
    return writer ? value::text_at(writer->config, "Transformation") : "";
}

/// Whether the result is another than the list of outputs.
bool is_transformed(const Fan& fan) {
    auto how = transformation_of(fan);
    return how == "NONE" || how == "FLATTEN";
}

/// How many items a child has: more than one where they come in batches.
std::uint64_t items_of(const Fan& fan, std::uint64_t index) {
    return fan.are_inputs ? fan.items.as_list()[index - fan.base].find("Items")->size() : 1;
}

/// What somebody outside may have written.
std::optional<std::uint64_t> given_count(const Value& params, std::string_view name) {
    const auto* found = params.find(name);
    return found != nullptr && found->is_int() && found->as_int() >= 0
               ? std::optional{static_cast<std::uint64_t>(found->as_int())}
               : std::nullopt;
}

Value failure_value(const Failure& failure) {
    return Value::object(
        {{"error", failure.error.value_or("")}, {"cause", failure.cause.value_or("")}});
}

Failure failure_from(const Value& told) {
    return {.error = value::text_at(told, "error"), .cause = value::text_at(told, "cause")};
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
    return arn_of(program_, "mapRun",
                  fmt::format("{}:{}-{}", map_machine(fan),
                              execution_name(state().info.definition, state().id), fan.started));
}

/// Of the map run among all that there ever were, so that no two write to one place.
std::string Walk::map_run_id(const Fan& fan) const {
    auto began = std::to_string(state().info.started.time_since_epoch().count());
    return uuid_of(fmt::format("{}/{}", began, map_run_arn(fan)), std::to_string(fan.started));
}

std::string Walk::child_name(const Fan& fan, std::uint64_t index) const {
    return uuid_of(map_run_id(fan), std::to_string(index));
}

void Walk::hear_limits(const Fan& fan) const {
    if (listener_ == nullptr || fan.visit.frame.tally->is_of_child) {
        return;
    }
    auto is_bounded = fan.concurrency != Fan{fan.visit}.concurrency;
    auto items = fan.request.is_null() ? fan.size : fan.read;
    if (fan.request.is_null() && fan.are_inputs) {
        items = 0;
        for (auto at = std::uint64_t{0}; at < fan.size; ++at) {
            items += items_of(fan, at);
        }
    }
    listener_->hear(firing_.decider().moment(),
                    Value::object({{"mapRun", map_run_arn(fan)},
                                   {"maxConcurrency", as_value(is_bounded ? fan.concurrency : 0)},
                                   {"toleratedFailureCount", as_value(fan.tolerated)},
                                   {"toleratedFailurePercentage", fan.tolerated_share},
                                   {"executions", as_value(fan.size)},
                                   {"items", as_value(items)}}));
}

void Walk::hear_child(const Fan& fan, std::uint64_t index, std::string_view status) const {
    if (listener_ == nullptr || fan.visit.frame.tally->is_of_child) {
        return;
    }
    listener_->hear(firing_.decider().moment(),
                    Value::object({{"mapRun", map_run_arn(fan)},
                                   {"index", as_value(index)},
                                   {"name", child_name(fan, index)},
                                   {"items", as_value(items_of(fan, index))},
                                   {"status", status}}));
}

std::optional<Step> Walk::take_execution(Fan& fan, const Frame& child, Step step) {
    auto is_ended = step.kind == Step::Kind::Ended;
    auto status = std::string_view{is_ended ? "SUCCEEDED" : "FAILED"};
    hear_child(fan, child.index, status);
    auto result = step.output;
    if (keeps_records(fan)) {
        result = child.tally->about.with("status", status)
                     .with("stopped", time_text(firing_.decider().moment().time));
        result = is_ended ? result.with("output", step.output)
                          : result.with("failure", failure_value(step.failure));
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

/// What cannot be a payload any more is not kept for one.
void Walk::keep_result(Fan& fan, std::uint64_t index, Value result) {
    auto is_written = writes_objects(fan);
    auto most = is_written ? part_bytes_max : program_.limits.payload_bytes_max;
    fan.bytes += json_bytes(result, most) + 1;
    if (is_written || fan.bytes < most) {
        collect(fan, index, std::move(result));
        return;
    }
    fan.held.clear();
    if (fan.scope) {
        firing_.record(
            trigger::CollectionDropped{.scope = *fan.scope, .trigger = trigger_of(fan.visit)});
    }
}

/// The records that are kept, with the names of their executions.
std::vector<Value> Walk::take_records(Fan& fan) {
    open(fan);
    auto records = std::vector<Value>{};
    auto trigger = trigger_of(fan.visit);
    const auto& collected = state().collected;
    for (auto at = collected.lower_bound({.scope = *fan.scope, .trigger = trigger});
         at != collected.end() && at->first.scope == *fan.scope && at->first.trigger == trigger;
         ++at) {
        const auto& [present, values] = at->second;
        for (auto place = std::size_t{0}; place < values.size(); ++place) {
            if ((present >> place & 1U) != 0) {
                auto index = at->first.block * trigger::CollectedBlock::size + place;
                records.push_back(values[place].with("name", child_name(fan, index)));
            }
        }
    }
    if (!records.empty()) {
        firing_.record(trigger::CollectionDropped{.scope = *fan.scope, .trigger = trigger});
    }
    fan.bytes = 0;
    return records;
}

/// Bucket and prefix, evaluated once.
Evaluated<Value> Walk::destination_of(Fan& fan) {
    if (fan.destination.is_null()) {
        auto view = View{*this, fan.visit};
        auto arguments = map_state(fan).writer->arguments->evaluate(view.of(fan.input),
                                                                    "ResultWriter/Arguments");
        if (!arguments) {
            return std::unexpected(explained(fan.visit, std::move(arguments.error())));
        }
        fan.destination = *std::move(arguments);
        open(fan);
        firing_.record(trigger::VariablesSet{.path = path_of(*fan.scope), .variables = fan.plan()});
    }
    return fan.destination;
}

Evaluated<void> Walk::write_part(Fan& fan, bool is_last) {
    auto destination = TRY(destination_of(fan));
    auto records = take_records(fan);
    auto request = Value::object({{"arguments", std::move(destination)},
                                  {"config", map_state(fan).writer->config},
                                  {"mapRunArn", map_run_arn(fan)},
                                  {"name", map_run_id(fan)},
                                  {"machine", arn_of(program_, "stateMachine", map_machine(fan))},
                                  {"execution", arn_of(program_, "execution", map_machine(fan))}});
    auto numbers = std::vector<Value>{};
    for (auto at = std::size_t{0}; at < fan.files.size(); ++at) {
        numbers.push_back(as_value(fan.files[at]));
        auto kind = result_kinds[at];
        fan.files[at] += std::ranges::any_of(
            records, [&](const Value& record) { return result_kind_of(record) == kind; });
    }
    request = request.with("numbers", Value::list(std::move(numbers)))
                  .with("records", Value::list(std::move(records)));
    ++fan.writes;
    fan.is_closing = is_last;
    store(fan);
    call_own(fan, results_function, is_last ? request.with("close", true) : request);
    return {};
}

Step Walk::take_written(Fan& fan, const Value& data) {
    if (firing_.event().type() != trigger::types::task_succeeded) {
        const auto* error = data.find("error");
        return break_off(fan, fan.visit.frame.last,
                         {.error = std::string{errors::result_writer},
                          .cause = error == nullptr ? "" : value::text_at(*error, "message")});
    }
    --fan.writes;
    if (!fan.is_closing) {
        return run_children(fan);
    }
    if (listener_ != nullptr) {
        listener_->hear(firing_.decider().moment(),
                        Value::object({{"mapRun", map_run_arn(fan)}, {"written", true}}));
    }
    if (!fan.failure.is_null()) {
        return break_off(fan, fan.visit.frame.last, failure_from(fan.failure));
    }
    return finish(fan, Value::object({{"MapRunArn", map_run_arn(fan)},
                                      {"ResultWriterDetails", *data.find("result")}}));
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
    return finish(fan, Value::list(transformed(take_records(fan), how, names)));
}

/// Too many have failed: the rest are aborted or never begin, and all that is told where results
/// are written.
Step Walk::give_in(Fan& fan, Failure failure) {
    if (!writes_objects(fan)) {
        return break_off(fan, fan.visit.frame.last, std::move(failure));
    }
    open(fan);
    auto members = state().members.find(*fan.scope);
    auto paths = members == state().members.end() ? decltype(members->second.children){}
                                                  : members->second.children;
    for (const auto& path : paths) {
        auto scope = state().scope_at(path);
        const auto* about =
            scope ? memory_of(*scope, program_.machine_trigger()).find("about") : nullptr;
        auto record = about == nullptr ? Value::map({}) : *about;
        hear_child(fan, index_in(path), "ABORTED");
        keep_result(fan, index_in(path),
                    record.with("status", "ABORTED")
                        .with("stopped", time_text(firing_.decider().moment().time)));
        firing_.decider().close_scope(path);
    }
    for (; fan.next < fan.size; ++fan.next) {
        auto child = Frame{.item = {}, .variables = {}};
        child.index = fan.next;
        child.item = item_of(fan, child.index);
        auto input = child_input(fan, child);
        keep_result(fan, child.index,
                    Value::object({{"status", "PENDING"}, {"input", input ? *input : Value{}}}));
    }
    fan.running = 0;
    fan.done = fan.size;
    fan.cursor = {};
    fan.failure = failure_value(failure);
    firing_.record(trigger::VariablesSet{.path = path_of(*fan.scope), .variables = fan.plan()});
    return finish_map_run(fan);
}

/// The scope of the map run that began with this event.
std::optional<std::pair<trigger::Incarnation, StateNumber>> Walk::find_map_run(
    std::uint64_t started) const {
    for (const auto& [path, scope] : state().scopes) {
        const auto* event = scope.variables.find("started");
        if (event == nullptr || *event != as_value(started) || !state().scope_at(path)) {
            continue;
        }
        for (auto number = StateNumber{0}; number < machine().states.size(); ++number) {
            const auto* map = std::get_if<MapState>(&machine().states[number].details);
            if (map != nullptr && map->is_distributed &&
                memory_of(scope.incarnation, trigger::TriggerNumber{number}).is_map()) {
                return std::pair{scope.incarnation, number};
            }
        }
    }
    return std::nullopt;
}

trigger::Attempt<void> Walk::update_map_run(const Value& params) {
    auto found = find_map_run(given_count(params, "started").value_or(0));
    if (!found) {
        return std::unexpected(expr::Fault{.code = "no_map_run",
                                           .message = "no map run that goes on began with this "
                                                      "event"});
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

} // namespace sluice::workflow::asl::internal::run
