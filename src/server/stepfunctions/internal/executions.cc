#include "server/stepfunctions/internal/executions.h"

#include <utility>

#include "engine/inspector.h"
#include "server/inspect/run_view.h"
#include "value/json.h"
#include "workflow/asl/history.h"

namespace sluice::server::stepfunctions {

namespace {

constexpr std::pair<std::string_view, trigger::Status> statuses[] = {
    {"RUNNING", trigger::Status::Running},    {"SUCCEEDED", trigger::Status::Succeeded},
    {"FAILED", trigger::Status::Failed},      {"ABORTED", trigger::Status::Cancelled},
    {"TIMED_OUT", trigger::Status::TimedOut}, {"PENDING_REDRIVE", trigger::Status::Queued}};

void look(World& world, const engine::RunName& run, std::function<void(Result<Value>)> then) {
    auto read = [](const trigger::RunState* state) -> Result<Value> {
        return state == nullptr ? Value{} : inspect::progress_view(*state);
    };
    world.services.engine.query(
        run, read, [then = std::move(then)](Result<Value> seen) { then(std::move(seen)); });
}

/// Takes `-EVENT-INDEX` off the name of a child: the execution that its map run belongs to.
bool take_off_child(std::string& name) {
    auto rest = std::string_view{name};
    for (auto part = 0; part < 2; ++part) {
        auto dash = rest.rfind('-');
        auto digits = rest.substr(dash == std::string_view::npos ? rest.size() : dash + 1);
        if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
            return false;
        }
        rest = rest.substr(0, dash);
    }
    name.resize(rest.size());
    return !name.empty();
}

/// Executions that an ARN may mean or be a child of: the first that is there is meant.
std::vector<std::string> candidates(const Arn& arn) {
    auto is_of_child = !arn.label.empty() && arn.kind == Arn::Kind::Execution;
    auto names = std::vector<std::string>{};
    auto name = arn.qualifier;
    if (!is_of_child) {
        names.push_back(name);
    }
    while (take_off_child(name)) {
        names.push_back(name);
    }
    return names;
}

/// Runs by the ids that these executions may have.
void look_for(World& world, const std::string& space, const Arn& arn,
              std::vector<std::string> names, const Sighted& then) {
    if (names.empty()) {
        auto machine = arn.label.empty() ? arn.name : fmt::format("{}/{}", arn.name, arn.label);
        then(no_execution(world.arns.execution(machine, arn.qualifier)));
        return;
    }
    auto name = std::move(names.front());
    names.erase(names.begin());
    auto run = engine::RunName{.space = space, .id = workflow::asl::execution_run(arn.name, name)};
    auto other = engine::RunName{.space = space, .id = name};
    auto child = name == arn.qualifier ? std::string{} : arn.qualifier;
    look(world, run,
         [&world, run, other, arn, child, names = std::move(names), then](Result<Value> seen) {
             if (!seen) {
                 then(std::unexpected(fault_of(seen.error())));
             } else if (!seen->is_null()) {
                 then(Seen{.run = run, .view = *std::move(seen), .child = child});
             } else {
                 look(world, other, [&world, other, arn, child, names, then](Result<Value> next) {
                     if (!next || next->is_null() || text_in(*next, "definition") != arn.name) {
                         look_for(world, other.space, arn, names, then);
                     } else {
                         then(Seen{.run = other, .view = *std::move(next), .child = child});
                     }
                 });
             }
         });
}

} // namespace

std::unexpected<Fault> no_execution(std::string_view arn) {
    return refuse("ExecutionDoesNotExist", "Execution Does Not Exist: '{}'", arn);
}

std::string_view status_of(trigger::Status status) {
    for (const auto& [name, each] : statuses) {
        if (each == status && each != trigger::Status::Queued) {
            return name;
        }
    }
    return "RUNNING"; // In the queue, which the service does not have.
}

trigger::Status status_named(std::string_view name) {
    for (const auto& [each, status] : statuses) {
        if (each == name) {
            return status;
        }
    }
    return trigger::Status::Running;
}

std::string_view Seen::status() const {
    auto text = text_in(view, "status");
    for (const auto& [name, status] : statuses) {
        if (text == to_string(status)) {
            return status_of(status);
        }
    }
    return "RUNNING";
}

void find_execution(World& world, const std::string& space, const Arn& arn, Sighted then) {
    look_for(world, space, arn, candidates(arn), then);
}

void find_execution(World& world, const Call& call, Sighted then) {
    auto arn = Arn::parse(text_in(call.body, "executionArn"), Arn::Kind::Execution);
    if (!arn) {
        then(std::unexpected(arn.error()));
        return;
    }
    find_execution(world, call.space, *arn, std::move(then));
}

std::expected<std::vector<Value>, Fault> history_of(const World& world, const Seen& seen) {
    auto history = workflow::asl::History{seen.child};
    auto state = TRY(decide_again(world, seen.run, history));
    history.close(state->progress);
    return history.events();
}

std::expected<std::unique_ptr<trigger::RunState>, Fault> decide_again(const World& world,
                                                                      const engine::RunName& run,
                                                                      trigger::Listener& listener) {
    auto inspector = engine::Inspector{world.services.store, world.services.vocabulary};
    auto state = TRY(or_fault(inspector.run(run)));
    TRY(or_fault(
        engine::replay(inspector, run, world.services.limits, trigger::EventNumber{0}, &listener)));
    return state;
}

void answer_of_execution(World& world, const Call& call, const Arn& arn, const Responder& respond,
                         MakeAnswer make) {
    auto then = [&world, call, respond, make = std::move(make)](std::expected<Seen, Fault> seen) {
        if (!seen) {
            respond(std::unexpected(seen.error()));
            return;
        }
        answer_on_worker(world, call, *seen, respond, make);
    };
    find_execution(world, call.space, arn, std::move(then));
}

void answer_on_worker(World& world, const Call& call, const Seen& seen, const Responder& respond,
                      MakeAnswer make) {
    auto is_taken =
        world.services.workers.try_post([&world, call, seen, respond, make = std::move(make)] {
            respond(make(world, call, seen));
        });
    if (!is_taken) {
        respond(std::unexpected(fault_of({Errc::Unavailable, "too many requests wait"})));
    }
}

Value with_outcome(Value view, const Seen& seen, const Value& result) {
    return with_end(std::move(view),
                    workflow::asl::execution_end(status_named(seen.status()), result,
                                                 value_in(seen.view, "error")));
}

Value with_end(Value view, const Value& end) {
    if (const auto* output = end.find("output")) {
        view = view.with("output", value::to_json(*output))
                   .with("outputDetails", Value::object({{"included", true}}));
    }
    for (auto name : {"error", "cause"}) {
        if (auto text = text_if(end, name)) {
            view = view.with(name, *text);
        }
    }
    return view;
}

} // namespace sluice::server::stepfunctions
