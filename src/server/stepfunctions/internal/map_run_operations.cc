#include <algorithm>
#include <charconv>
#include <utility>

#include "server/stepfunctions/internal/executions.h"
#include "server/stepfunctions/internal/map_runs.h"
#include "trigger/arrival.h"
#include "workflow/asl/map_runs.h"

// Map runs: what an execution tells of its distributed Map states while it is decided again.
namespace sluice::server::stepfunctions {

namespace {

using workflow::asl::ChildExecution;
using workflow::asl::MapRun;
using workflow::asl::MapRunCounts;

/// A map run's own name is that of its execution, and the event that it began with.
Arn execution_of(const Arn& map_run) {
    return {.kind = Arn::Kind::Execution,
            .name = map_run.name,
            .qualifier = map_run.qualifier.substr(0, map_run.qualifier.rfind('-'))};
}

std::int64_t event_of(const Arn& map_run) {
    auto digits = std::string_view{map_run.qualifier};
    digits.remove_prefix(digits.rfind('-') + 1);
    auto event = std::int64_t{0};
    std::from_chars(digits.data(), digits.data() + digits.size(), event);
    return event;
}

std::expected<std::vector<MapRun>, Fault> map_runs_of(const World& world,
                                                      const engine::RunName& run) {
    auto heard = workflow::asl::MapRuns{};
    auto state = TRY(decide_again(world, run, heard));
    heard.close(state->progress);
    return heard.all();
}

/// The one that the call means by its ARN.
std::expected<MapRun, Fault> map_run_of(const World& world, const Call& call, const Seen& seen) {
    auto wanted = text_in(call.body, "mapRunArn");
    auto asked = TRY(Arn::parse(wanted, Arn::Kind::MapRun));
    auto runs = TRY(map_runs_of(world, seen.run));
    auto found = std::ranges::find_if(runs, [&](const MapRun& run) {
        auto own = Arn::parse(run.arn);
        return own && own->label == asked.label && own->qualifier == asked.qualifier;
    });
    if (found == runs.end()) {
        return refuse("ResourceNotFound", "Map Run does not exist: '{}'", wanted);
    }
    return *found;
}

Value number(std::uint64_t count) {
    return Value{static_cast<std::int64_t>(count)};
}

Value counts_view(const MapRunCounts& counts, bool is_written) {
    auto ended = counts.succeeded + counts.failed + counts.aborted;
    return Value::object({{"pending", number(counts.pending())},
                          {"running", number(counts.running)},
                          {"succeeded", number(counts.succeeded)},
                          {"failed", number(counts.failed)},
                          {"timedOut", 0},
                          {"aborted", number(counts.aborted)},
                          {"total", number(counts.total)},
                          {"resultsWritten", number(is_written ? ended : 0)},
                          {"failuresNotRedrivable", 0},
                          {"pendingRedrive", 0}});
}

Value run_view(const World& world, const MapRun& run, const Seen& seen) {
    auto view = Value::object({{"mapRunArn", run.arn},
                               {"executionArn", world.arns.execution(seen.machine(), seen.name())},
                               {"startDate", seconds_of(run.started)}});
    return run.ended ? view.with("stopDate", seconds_of(*run.ended)) : view;
}

/// Items of a list, from the place that a token names.
template <typename Item, typename View>
Answer list_page(const Call& call, std::string_view list, const std::vector<Item>& items,
                 const View& view) {
    auto page = TRY(Page::read(call.body, list));
    auto from = std::size_t{0};
    std::from_chars(page.after.data(), page.after.data() + page.after.size(), from);
    auto end = std::min(items.size(), from + page.most);
    auto listed = std::vector<Value>{};
    for (auto at = from; at < end; ++at) {
        listed.push_back(view(items[at]));
    }
    auto made = Value::object({{std::string{list}, Value::list(std::move(listed))}});
    return end < items.size() ? made.with("nextToken", page_token(list, std::to_string(end)))
                              : made;
}

Answer list_runs(World& world, const Call& call, const Seen& seen) {
    auto runs = TRY(map_runs_of(world, seen.run));
    return list_page(call, "mapRuns", runs, [&](const MapRun& run) {
        return run_view(world, run, seen)
            .with("stateMachineArn", world.arns.machine(seen.machine()));
    });
}

Answer describe_run(World& world, const Call& call, const Seen& seen) {
    auto run = TRY(map_run_of(world, call, seen));
    return run_view(world, run, seen)
        .with("status", run.status)
        .with("maxConcurrency", run.concurrency_max)
        .with("toleratedFailurePercentage", run.tolerated_percentage)
        .with("toleratedFailureCount", run.tolerated_count)
        .with("itemCounts", counts_view(run.items, run.is_written))
        .with("executionCounts", counts_view(run.executions, run.is_written))
        .with("redriveCount", 0);
}

Answer list_children(World& world, const Call& call, const Seen& seen) {
    auto run = TRY(map_run_of(world, call, seen));
    auto status = text_in(call.body, "statusFilter");
    std::erase_if(run.children, [&](const ChildExecution& child) {
        return child.name.empty() || (!status.empty() && child.status != status);
    });
    std::ranges::reverse(run.children); // The newest first.
    auto arn = TRY(Arn::parse(run.arn));
    auto machine = fmt::format("{}/{}", arn.name, arn.label);
    return list_page(call, "executions", run.children, [&](const ChildExecution& child) {
        auto view = Value::object({{"executionArn", world.arns.execution(machine, child.name)},
                                   {"stateMachineArn", world.arns.machine(machine)},
                                   {"mapRunArn", run.arn},
                                   {"name", child.name},
                                   {"status", child.status},
                                   {"itemCount", number(child.items)},
                                   {"startDate", seconds_of(child.started)}});
        return child.ended ? view.with("stopDate", seconds_of(*child.ended)) : view;
    });
}

void list_map_runs(World& world, const Call& call, const Responder& respond) {
    auto arn = Arn::parse(text_in(call.body, "executionArn"), Arn::Kind::Execution);
    if (!arn) {
        respond(std::unexpected(arn.error()));
        return;
    }
    answer_of_execution(world, call, *arn, respond, list_runs);
}

void answer_of_map_run(World& world, const Call& call, const Responder& respond, MakeAnswer make) {
    auto arn = Arn::parse(text_in(call.body, "mapRunArn"), Arn::Kind::MapRun);
    if (!arn) {
        respond(std::unexpected(arn.error()));
        return;
    }
    answer_of_execution(world, call, execution_of(*arn), respond, std::move(make));
}

void describe_map_run(World& world, const Call& call, const Responder& respond) {
    answer_of_map_run(world, call, respond, describe_run);
}

/// The limits that the call gives, as the run takes them.
Value limits_in(const Call& call, const Arn& arn) {
    auto limits = Value::object({{"started", event_of(arn)}});
    for (auto [given, taken] :
         {std::pair{"maxConcurrency", "concurrency"}, {"toleratedFailureCount", "tolerated"}}) {
        if (auto count = number_in(call.body, given)) {
            limits = limits.with(taken, *count);
        }
    }
    auto share = value_in(call.body, "toleratedFailurePercentage");
    return share.is_null() ? limits : limits.with("tolerated_share", share);
}

void update_map_run(World& world, const Call& call, const Responder& respond) {
    auto arn = Arn::parse(text_in(call.body, "mapRunArn"), Arn::Kind::MapRun);
    if (!arn) {
        respond(std::unexpected(arn.error()));
        return;
    }
    auto then = [&world, respond, limits = limits_in(call, *arn),
                 arn = text_in(call.body, "mapRunArn")](std::expected<Seen, Fault> seen) {
        if (!seen) {
            respond(refuse("ResourceNotFound", "Map Run does not exist: '{}'", arn));
            return;
        }
        auto action = Value::object({{std::string{workflow::asl::map_run_action}, limits}});
        world.services.engine.command(
            seen->run, std::string{trigger::types::run_command},
            Value::object({{"action", action}}), [respond, arn](const Result<Value>& done) {
                if (!done) {
                    respond(std::unexpected(fault_of(done.error())));
                } else if (text_in(*done, "fate") != "handled") {
                    respond(refuse("ResourceNotFound", "Map Run is not running: '{}'", arn));
                } else {
                    respond(Value::object({}));
                }
            });
    };
    find_execution(world, call.space, execution_of(*arn), std::move(then));
}

} // namespace

void list_map_children(World& world, const Call& call, const Responder& respond) {
    answer_of_map_run(world, call, respond, list_children);
}

std::vector<Operation> map_run_operations() {
    auto limit = [](std::string_view name, std::uint64_t most = INT32_MAX) {
        return Parameter{.name = name, .kind = Parameter::Kind::Number, .most = most};
    };
    return {{"ListMapRuns", reads, with_page({arn_parameter("executionArn")}), list_map_runs},
            {"DescribeMapRun", reads, {arn_parameter("mapRunArn")}, describe_map_run},
            {"UpdateMapRun",
             changes,
             {arn_parameter("mapRunArn"), limit("maxConcurrency"),
              limit("toleratedFailurePercentage", 100), limit("toleratedFailureCount")},
             update_map_run}};
}

} // namespace sluice::server::stepfunctions
