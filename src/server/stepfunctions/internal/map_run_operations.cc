#include <utility>

#include "server/stepfunctions/internal/executions.h"
#include "value/json.h"

// Map runs: what the history of an execution tells of its distributed Map states.
namespace sluice::server::stepfunctions {

namespace {

struct MapRun {
    std::string arn;
    std::string_view status = "RUNNING";
    Time started{};
    std::optional<Time> ended{};
    std::int64_t items = 0;
};

Time time_of(const Value& event) {
    auto time = value_in(event, "timestamp");
    return time.is_timestamp() ? time.as_timestamp() : Time{};
}

/// How many items the state that this event follows has.
std::int64_t items_before(const std::vector<Value>& events, const Value& event) {
    auto before = number_in(event, "previousEventId").value_or(0);
    if (before < 1 || before > static_cast<std::int64_t>(events.size())) {
        return 0;
    }
    const auto& started = events[static_cast<std::size_t>(before - 1)];
    return number_in(value_in(started, "details"), "length").value_or(0);
}

std::vector<MapRun> map_runs_in(const std::vector<Value>& events) {
    auto runs = std::vector<MapRun>{};
    for (const auto& event : events) {
        auto type = text_in(event, "type");
        if (type == "MapRunStarted") {
            runs.push_back({.arn = text_in(value_in(event, "details"), "mapRunArn"),
                            .started = time_of(event),
                            .items = items_before(events, event)});
            continue;
        }
        auto status = type == "MapRunSucceeded" ? "SUCCEEDED"
                      : type == "MapRunFailed"  ? "FAILED"
                      : type == "MapRunAborted" ? "ABORTED"
                                                : "";
        if (*status == '\0') {
            continue;
        }
        // Of several that run at once the one that began first is taken to end first.
        for (auto& run : runs) {
            if (!run.ended) {
                run.status = status;
                run.ended = time_of(event);
                break;
            }
        }
    }
    return runs;
}

Value counts_view(const MapRun& run) {
    auto count = [&](std::string_view status) { return run.status == status ? run.items : 0; };
    return Value::object({{"pending", 0},
                          {"running", count("RUNNING")},
                          {"succeeded", count("SUCCEEDED")},
                          {"failed", count("FAILED")},
                          {"timedOut", 0},
                          {"aborted", count("ABORTED")},
                          {"total", run.items},
                          {"resultsWritten", 0},
                          {"failuresNotRedrivable", 0},
                          {"pendingRedrive", 0}});
}

Value run_view(const World& world, const MapRun& run, const Seen& seen) {
    auto view = Value::object({{"mapRunArn", run.arn},
                               {"executionArn", world.arns.execution(seen.machine(), seen.name())},
                               {"startDate", seconds_of(run.started)}});
    return run.ended ? view.with("stopDate", seconds_of(*run.ended)) : view;
}

Answer list_page(World& world, const Call& call, const Seen& seen) {
    TRY(Page::read(call.body, "maps"));
    auto listed = std::vector<Value>{};
    for (const auto& run : map_runs_in(TRY(history_of(world, seen.run)))) {
        listed.push_back(
            run_view(world, run, seen).with("stateMachineArn", world.arns.machine(seen.machine())));
    }
    return Value::object({{"mapRuns", Value::list(std::move(listed))}});
}

Answer describe_page(World& world, const Call& call, const Seen& seen) {
    auto wanted = text_in(call.body, "mapRunArn");
    for (const auto& run : map_runs_in(TRY(history_of(world, seen.run)))) {
        auto own = Arn::parse(run.arn);
        auto asked = Arn::parse(wanted);
        if (own && asked && own->label == asked->label && own->qualifier == asked->qualifier) {
            return run_view(world, run, seen)
                .with("status", run.status)
                .with("maxConcurrency", 0)
                .with("toleratedFailurePercentage", 0.0)
                .with("toleratedFailureCount", 0)
                .with("itemCounts", counts_view(run))
                .with("executionCounts", counts_view(run))
                .with("redriveCount", 0);
        }
    }
    return refuse("ResourceNotFound", "Map Run does not exist: '{}'", wanted);
}

void list_map_runs(World& world, const Call& call, const Responder& respond) {
    auto arn = Arn::parse(text_in(call.body, "executionArn"), Arn::Kind::Execution);
    if (!arn) {
        respond(std::unexpected(arn.error()));
        return;
    }
    answer_of_execution(world, call, *arn, respond, list_page);
}

/// A map run's own name is that of its execution, and the event that it began with.
void describe_map_run(World& world, const Call& call, const Responder& respond) {
    auto arn = Arn::parse(text_in(call.body, "mapRunArn"), Arn::Kind::MapRun);
    if (!arn) {
        respond(std::unexpected(arn.error()));
        return;
    }
    auto execution = Arn{.kind = Arn::Kind::Execution,
                         .name = arn->name,
                         .qualifier = arn->qualifier.substr(0, arn->qualifier.rfind('-'))};
    answer_of_execution(world, call, execution, respond, describe_page);
}

Answer update_map_run(World& /*world*/, const Call& call) {
    TRY(Arn::parse(text_in(call.body, "mapRunArn"), Arn::Kind::MapRun));
    return refuse("ValidationException",
                  "a map run keeps the limits that it began with: change the definition, and start "
                  "another execution");
}

} // namespace

std::vector<Operation> map_run_operations() {
    auto number = [](std::string_view name) {
        return Parameter{.name = name, .kind = Parameter::Kind::Number};
    };
    return {{"ListMapRuns", reads, with_page({arn_parameter("executionArn")}), list_map_runs},
            {"DescribeMapRun", reads, {arn_parameter("mapRunArn")}, describe_map_run},
            {"UpdateMapRun",
             changes,
             {arn_parameter("mapRunArn"), number("maxConcurrency"),
              number("toleratedFailurePercentage"), number("toleratedFailureCount")},
             update_map_run}};
}

} // namespace sluice::server::stepfunctions
