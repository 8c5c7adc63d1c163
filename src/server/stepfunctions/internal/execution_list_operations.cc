#include <utility>

#include "server/stepfunctions/internal/definitions.h"
#include "server/stepfunctions/internal/executions.h"
#include "server/stepfunctions/internal/machines.h"
#include "server/stepfunctions/internal/map_runs.h"
#include "value/json.h"

// DescribeExecution, DescribeStateMachineForExecution, ListExecutions.
namespace sluice::server::stepfunctions {

namespace {

/// ARNs of the version and alias that it was started by.
Value with_origin(const World& world, Value view, std::string_view machine, const Value& labels) {
    for (auto [label, member] : {std::pair{version_label, "stateMachineVersionArn"},
                                 std::pair{alias_label, "stateMachineAliasArn"}}) {
        if (auto qualifier = text_if(labels, label)) {
            view = view.with(member, world.arns.machine(machine, *qualifier));
        }
    }
    return view;
}

Value with_redrive(Value view, const Seen& seen) {
    auto status = seen.status();
    auto generation = number_in(seen.view, "generation").value_or(1);
    view = view.with("redriveCount", Value{generation - 1});
    if (status == "RUNNING" || status == "SUCCEEDED") {
        return view.with("redriveStatus", "NOT_REDRIVABLE")
            .with("redriveStatusReason",
                  fmt::format("Execution is {} and cannot be redriven", status));
    }
    return view.with("redriveStatus", "REDRIVABLE");
}

Value describe_view(const World& world, const Seen& seen, const Value& result, bool has_data) {
    auto machine = seen.machine();
    auto view =
        Value::object({{"executionArn", world.arns.execution(machine, seen.name())},
                       {"stateMachineArn", world.arns.machine(machine)},
                       {"name", seen.name()},
                       {"status", seen.status()},
                       {"startDate", seconds_of(value_in(seen.view, "started").as_timestamp())}});
    view = with_redrive(with_origin(world, view, machine, value_in(seen.view, "labels")), seen);
    auto ended = value_in(seen.view, "ended");
    if (has_data) {
        view = view.with("input", value::to_json(value_in(seen.view, "input")))
                   .with("inputDetails", Value::object({{"included", true}}));
    }
    if (!ended.is_timestamp()) {
        return view;
    }
    view = view.with("stopDate", seconds_of(ended.as_timestamp()));
    if (!has_data && seen.status() == "SUCCEEDED") {
        return view;
    }
    return with_outcome(std::move(view), seen, result);
}

void describe_execution(World& world, const Call& call, const Responder& respond) {
    auto has_data = text_in(call.body, "includedData") != "METADATA_ONLY";
    find_execution(world, call, [&world, call, respond, has_data](std::expected<Seen, Fault> seen) {
        if (!seen) {
            respond(std::unexpected(seen.error()));
            return;
        }
        if (!seen->child.empty()) {
            answer_on_worker(world, call, *seen, respond, describe_child);
            return;
        }
        auto result = value_in(seen->view, "result");
        const auto* references = world.services.references;
        if (references == nullptr || !references->has_any(result)) {
            respond(describe_view(world, *seen, result, has_data));
            return;
        }
        auto is_taken = world.services.workers.try_post(
            [&world, references, respond, has_data, seen = *std::move(seen), result] {
                respond(describe_view(world, seen, references->fill_or_leave(seen.run, result),
                                      has_data));
            });
        if (!is_taken) {
            respond(std::unexpected(fault_of({Errc::Unavailable, "too many requests wait"})));
        }
    });
}

/// As the machine was when the execution began.
Answer machine_view(World& world, const Call& call, const Seen& seen) {
    auto name = seen.machine();
    auto hash = text_in(seen.view, "trigger_set");
    auto text = TRY(definition_text(world, hash));
    auto machine = find_machine(world, call.space, name).value_or(StateMachine{});
    auto view = Value::object({{"stateMachineArn", world.arns.machine(name)},
                               {"name", name},
                               {"definition", text},
                               {"roleArn", machine.role},
                               {"updateDate", seconds_of(machine.updated)}});
    for (const auto& [member, value] : {std::pair{"loggingConfiguration", machine.logging},
                                        std::pair{"tracingConfiguration", machine.tracing}}) {
        view = value.is_null() ? view : view.with(member, value);
    }
    if (!seen.child.empty()) {
        auto arn = TRY(Arn::parse(text_in(call.body, "executionArn")));
        auto map_run = seen.child.substr(0, seen.child.rfind('-'));
        view = view.with("label", arn.label)
                   .with("mapRunArn", world.arns.map_run(name, arn.label, map_run));
    }
    return machine.revision.empty() || machine.hash != hash
               ? view
               : view.with("revisionId", machine.revision);
}

void describe_machine_of_execution(World& world, const Call& call, const Responder& respond) {
    auto arn = Arn::parse(text_in(call.body, "executionArn"), Arn::Kind::Execution);
    if (!arn) {
        respond(std::unexpected(arn.error()));
        return;
    }
    answer_of_execution(world, call, *arn, respond, machine_view);
}

Value listed_view(const World& world, const engine::ListedRun& listed) {
    const auto& [run, summary] = listed;
    auto name = workflow::asl::execution_name(summary.definition, run.id);
    auto view = Value::object({{"executionArn", world.arns.execution(summary.definition, name)},
                               {"stateMachineArn", world.arns.machine(summary.definition)},
                               {"name", name},
                               {"status", status_of(summary.status)},
                               {"startDate", seconds_of(summary.started)}});
    if (summary.ended) {
        view = view.with("stopDate", seconds_of(*summary.ended));
    }
    return with_origin(world, std::move(view), summary.definition, summary.labels);
}

std::expected<engine::RunFilter, Fault> read_filter(const World& world, const Call& call) {
    auto text = text_in(call.body, "stateMachineArn");
    if (text.empty() || text_if(call.body, "mapRunArn")) {
        return refuse("ValidationException",
                      "Must specify exactly one of stateMachineArn and mapRunArn");
    }
    auto arn = TRY(Arn::parse(text, Arn::Kind::StateMachine));
    auto machine = TRY(find_machine(world, call.space, arn.name));
    if (machine.is_express) {
        return refuse("StateMachineTypeNotSupported",
                      "This operation is not supported by this type of state machine");
    }
    auto page = TRY(Page::read(call.body, "executions"));
    auto filter = engine::RunFilter{.space = call.space,
                                    .status = std::nullopt,
                                    .definition = arn.name,
                                    .label = {},
                                    .most = page.most,
                                    .cursor = page.after};
    if (auto status = text_if(call.body, "statusFilter")) {
        filter.status = status_named(*status);
    }
    if (!arn.qualifier.empty()) {
        filter.label =
            fmt::format("{}={}", arn.version() ? version_label : alias_label, arn.qualifier);
    }
    return filter;
}

Answer list_of_machine(World& world, const Call& call) {
    auto filter = TRY(read_filter(world, call));
    auto page = engine::list_runs(world.services.store, filter);
    if (!page) {
        return refuse("InvalidToken", "Invalid Token: '{}'", page.error().message);
    }
    auto listed = std::vector<Value>{};
    for (const auto& run : page->runs) {
        listed.push_back(listed_view(world, run));
    }
    auto view = Value::object({{"executions", Value::list(std::move(listed))}});
    return page->cursor.empty() ? view
                                : view.with("nextToken", page_token("executions", page->cursor));
}

void list_executions(World& world, const Call& call, const Responder& respond) {
    auto is_of_map = text_if(call.body, "mapRunArn").has_value();
    if (is_of_map && !text_if(call.body, "stateMachineArn")) {
        list_map_children(world, call, respond);
        return;
    }
    auto is_taken = world.services.workers.try_post(
        [&world, call, respond] { respond(list_of_machine(world, call)); });
    if (!is_taken) {
        respond(std::unexpected(fault_of({Errc::Unavailable, "too many requests wait"})));
    }
}

} // namespace

std::vector<Operation> execution_list_operations() {
    auto execution = arn_parameter("executionArn");
    auto data = choice_parameter("includedData", {"ALL_DATA", "METADATA_ONLY"});
    return {{"DescribeExecution", reads, {execution, data}, describe_execution},
            {"DescribeStateMachineForExecution",
             reads,
             {execution, data},
             describe_machine_of_execution},
            {"ListExecutions", reads,
             with_page(
                 {arn_parameter("stateMachineArn", optional), arn_parameter("mapRunArn", optional),
                  choice_parameter("statusFilter", {"RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT",
                                                    "ABORTED", "PENDING_REDRIVE"}),
                  choice_parameter("redriveFilter", {"REDRIVEN", "NOT_REDRIVEN"})}),
             list_executions}};
}

} // namespace sluice::server::stepfunctions
