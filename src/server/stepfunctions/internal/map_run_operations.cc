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

using workflow::asl::MapRun;
using workflow::asl::MapRunCounts;

/// A map run's own name is that of its execution, and the event that it began with. That may be a
/// child of another.
Arn execution_of(const Arn& map_run) {
    return {.kind = Arn::Kind::MapRun,
            .name = map_run.name,
            .label = map_run.label,
            .qualifier = map_run.qualifier.substr(0, map_run.qualifier.rfind('-'))};
}

std::expected<workflow::asl::MapRuns, Fault> map_runs_of(const World& world, const Seen& seen) {
    auto heard = workflow::asl::MapRuns{seen.child};
    auto state = TRY(decide_again(world, seen.run, heard));
    heard.close(state->progress);
    return heard;
}

std::string execution_arn(const World& world, const Seen& seen,
                          const workflow::asl::MapRuns& runs) {
    return seen.child.empty() ? world.arns.execution(seen.machine(), seen.name())
                              : world.arns.execution(runs.child_machine(), seen.child);
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
                          {"failuresNotRedrivable", number(counts.not_redrivable)},
                          {"pendingRedrive", number(counts.pending_redrive)}});
}

Value run_view(const MapRun& run, const std::string& execution) {
    auto view = Value::object({{"mapRunArn", run.arn},
                               {"executionArn", execution},
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
    auto runs = TRY(map_runs_of(world, seen));
    auto execution = execution_arn(world, seen, runs);
    return list_page(call, "mapRuns", runs.all(), [&](const MapRun& run) {
        return run_view(run, execution).with("stateMachineArn", world.arns.machine(seen.machine()));
    });
}

Answer describe_run(World& world, const Call& call, const Seen& seen) {
    auto wanted = text_in(call.body, "mapRunArn");
    auto asked = TRY(Arn::parse(wanted, Arn::Kind::MapRun));
    auto runs = TRY(map_runs_of(world, seen));
    auto found = std::ranges::find_if(runs.all(), [&](const MapRun& run) {
        auto own = Arn::parse(run.arn);
        return own && own->label == asked.label && own->qualifier == asked.qualifier;
    });
    if (found == runs.all().end()) {
        return refuse("ResourceNotFound", "Map Run does not exist: '{}'", wanted);
    }
    const auto& run = *found;
    auto view = run_view(run, execution_arn(world, seen, runs))
                    .with("status", run.status)
                    .with("maxConcurrency", run.concurrency_max)
                    .with("toleratedFailurePercentage", run.tolerated_percentage)
                    .with("toleratedFailureCount", run.tolerated_count)
                    .with("itemCounts", counts_view(run.items, run.is_written))
                    .with("executionCounts", counts_view(run.executions, run.is_written))
                    .with("redriveCount", number(run.redrives));
    return run.redriven ? view.with("redriveDate", seconds_of(*run.redriven)) : view;
}

void list_map_runs(World& world, const Call& call, const Responder& respond) {
    auto arn = Arn::parse(text_in(call.body, "executionArn"), Arn::Kind::Execution);
    if (!arn) {
        respond(std::unexpected(arn.error()));
        return;
    }
    answer_of_execution(world, call, *arn, respond, list_runs);
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
        if (!seen || !seen->child.empty()) {
            respond(
                refuse("ResourceNotFound", "Map Run does not exist, or is of a child: '{}'", arn));
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

void answer_of_map_run(World& world, const Call& call, const Responder& respond, MakeAnswer make) {
    auto arn = Arn::parse(text_in(call.body, "mapRunArn"), Arn::Kind::MapRun);
    if (!arn) {
        respond(std::unexpected(arn.error()));
        return;
    }
    answer_of_execution(world, call, execution_of(*arn), respond, std::move(make));
}

std::int64_t event_of(const Arn& map_run) {
    auto digits = std::string_view{map_run.qualifier};
    digits.remove_prefix(digits.rfind('-') + 1);
    auto event = std::int64_t{0};
    std::from_chars(digits.data(), digits.data() + digits.size(), event);
    return event;
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
