#include <charconv>
#include <utility>

#include "server/stepfunctions/internal/map_runs.h"
#include "trigger/arrival.h"
#include "value/json.h"
#include "workflow/asl/map_children.h"

// Children of map runs: the run that they are a part of tells of them while it is decided again.
namespace sluice::server::stepfunctions {

namespace {

using workflow::asl::ChildExecution;
using workflow::asl::ChildQuery;
using workflow::asl::MapChildren;

/// A child's name is that of its map run, and its index.
struct ChildName {
    Arn map_run;
    std::uint64_t index = 0;
    std::string execution; ///< That the map run belongs to.

    static ChildName of(const Arn& child) {
        auto name = ChildName{.map_run = child, .execution = {}};
        auto& text = name.map_run.qualifier;
        auto dash = text.rfind('-');
        std::from_chars(text.data() + dash + 1, text.data() + text.size(), name.index);
        text.resize(dash);
        name.execution = text.substr(0, text.rfind('-'));
        name.map_run.kind = Arn::Kind::MapRun;
        return name;
    }
    std::string machine() const { return fmt::format("{}/{}", map_run.name, map_run.label); }
    std::string run() const { return fmt::format("{}:{}", machine(), map_run.qualifier); }
};

Value child_view(const World& world, const std::string& machine, const std::string& map_run,
                 const ChildExecution& child) {
    auto view = Value::object({{"executionArn", world.arns.execution(machine, child.name)},
                               {"stateMachineArn", world.arns.machine(machine)},
                               {"mapRunArn", map_run},
                               {"name", child.name},
                               {"status", child.status},
                               {"startDate", seconds_of(child.started)},
                               {"redriveCount", Value{static_cast<std::int64_t>(child.redrives)}}});
    if (child.redriven) {
        view = view.with("redriveDate", seconds_of(*child.redriven));
    }
    return child.ended && child.status != "PENDING_REDRIVE"
               ? view.with("stopDate", seconds_of(*child.ended))
               : view;
}

Value with_redrive(Value view, const ChildExecution& child, bool has_parent_ended) {
    auto is_redrivable = (child.status == "FAILED" || child.status == "ABORTED") &&
                         !child.is_lost && has_parent_ended;
    if (is_redrivable) {
        return view.with("redriveStatus", "REDRIVABLE_BY_MAP_RUN");
    }
    return view.with("redriveStatus", "NOT_REDRIVABLE")
        .with("redriveStatusReason",
              fmt::format("Execution is {} and cannot be redriven", child.status));
}

Answer list_children(World& world, const Call& call, const Seen& seen) {
    auto page = TRY(Page::read(call.body, "executions"));
    auto arn = TRY(Arn::parse(text_in(call.body, "mapRunArn"), Arn::Kind::MapRun));
    auto machine = fmt::format("{}/{}", arn.name, arn.label);
    auto until = std::uint64_t{UINT64_MAX};
    std::from_chars(page.after.data(), page.after.data() + page.after.size(), until);
    auto heard = MapChildren{{.run = fmt::format("{}:{}", machine, arn.qualifier),
                              .execution = seen.child,
                              .status = text_in(call.body, "statusFilter"),
                              .until = until,
                              .most = page.most}};
    auto state = TRY(decide_again(world, seen.run, heard));
    heard.close(state->progress);
    auto map_run = world.arns.map_run(arn.name, arn.label, arn.qualifier);
    if (!heard.is_known()) {
        return refuse("ResourceNotFound", "Map Run does not exist: '{}'", map_run);
    }
    auto found = heard.page();
    auto listed = std::vector<Value>{};
    for (const auto& child : found.children) {
        listed.push_back(child_view(world, machine, map_run, child)
                             .with("itemCount", Value{static_cast<std::int64_t>(child.items)}));
    }
    auto view = Value::object({{"executions", Value::list(std::move(listed))}});
    return found.rest
               ? view.with("nextToken", page_token("executions", std::to_string(*found.rest)))
               : view;
}

/// The child that the call names.
std::expected<ChildExecution, Fault> find_child(const World& world, const ChildName& name,
                                                const Seen& seen) {
    auto nested = name.execution == seen.name() ? std::string{} : name.execution;
    auto heard = MapChildren{{.run = name.run(),
                              .execution = nested,
                              .from = name.index,
                              .until = name.index + 1,
                              .has_data = true}};
    auto state = TRY(decide_again(world, seen.run, heard));
    heard.close(state->progress);
    auto found = heard.page();
    if (found.children.empty()) {
        return no_execution(world.arns.execution(name.machine(), seen.child));
    }
    return std::move(found.children.front());
}

} // namespace

void list_map_children(World& world, const Call& call, const Responder& respond) {
    answer_of_map_run(world, call, respond, list_children);
}

Answer describe_child(World& world, const Call& call, const Seen& seen) {
    auto arn = TRY(Arn::parse(text_in(call.body, "executionArn"), Arn::Kind::Execution));
    auto name = ChildName::of(arn);
    auto child = TRY(find_child(world, name, seen));
    auto map_run = world.arns.map_run(arn.name, arn.label, name.map_run.qualifier);
    auto has_parent_ended = seen.status() != "RUNNING" && seen.status() != "SUCCEEDED";
    auto view =
        with_redrive(child_view(world, name.machine(), map_run, child), child, has_parent_ended);
    if (text_in(call.body, "includedData") != "METADATA_ONLY") {
        view = view.with("input", value::to_json(child.input))
                   .with("inputDetails", Value::object({{"included", true}}));
    } else if (child.status == "SUCCEEDED") {
        return view;
    }
    return child.end.is_map() && child.status != "PENDING_REDRIVE" ? with_end(view, child.end)
                                                                   : view;
}

void stop_child(World& world, const Call& call, const Seen& seen, const Responder& respond) {
    auto arn = Arn::parse(text_in(call.body, "executionArn"), Arn::Kind::Execution);
    auto name = ChildName::of(*arn);
    auto told = Value::object({{"started", event_of(name.map_run)},
                               {"index", Value{static_cast<std::int64_t>(name.index)}}});
    for (auto member : {"error", "cause"}) {
        if (auto text = text_if(call.body, member)) {
            told = told.with(member, *text);
        }
    }
    if (name.execution != seen.name()) {
        respond(refuse("ValidationException", "The children of a child are stopped with that: '{}'",
                       text_in(call.body, "executionArn")));
        return;
    }
    auto then = [&world, call, name, seen, respond](const Result<Value>& done) {
        if (!done && done.error().code != Errc::Conflict) {
            respond(std::unexpected(fault_of(done.error())));
            return;
        }
        if (done && text_in(*done, "fate") == "handled") {
            respond(Value::object({{"stopDate", seconds_of(world.services.clock.wall())}}));
            return;
        }
        // It has ended before, or never was.
        auto answer = [&world, name, seen, respond] {
            auto child = find_child(world, name, seen);
            if (!child) {
                respond(std::unexpected(child.error()));
                return;
            }
            auto stopped = child->ended.value_or(world.services.clock.wall());
            respond(Value::object({{"stopDate", seconds_of(stopped)}}));
        };
        if (!world.services.workers.try_post(answer)) {
            respond(std::unexpected(fault_of({Errc::Unavailable, "too many requests wait"})));
        }
    };
    auto action = Value::object({{std::string{workflow::asl::stop_child_action}, told}});
    world.services.engine.command(seen.run, std::string{trigger::types::run_command},
                                  Value::object({{"action", action}}), std::move(then));
}

} // namespace sluice::server::stepfunctions
