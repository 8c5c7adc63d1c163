#include <atomic>
#include <memory>
#include <utility>

#include "server/stepfunctions/internal/executions.h"
#include "server/stepfunctions/internal/identity.h"
#include "server/stepfunctions/internal/machines.h"
#include "server/stepfunctions/internal/map_runs.h"
#include "trigger/arrival.h"
#include "value/json.h"

// StartExecution, StartSyncExecution, StopExecution, RedriveExecution.
namespace sluice::server::stepfunctions {

namespace {

constexpr auto input_characters_max = std::uint64_t{262'144};
// Express executions end after five minutes; who waits gets an answer a little later.
constexpr auto sync_wait_max = std::chrono::minutes{5} + std::chrono::seconds{5};

/// What is to be started, and as what.
struct Start {
    Meant meant;
    std::string name;   ///< Of the execution.
    std::string unique; ///< Of an express one.
    engine::StartRequest request;

    std::string arn(const World& world) const {
        return meant.machine.is_express ? world.arns.express(meant.machine.name, name, unique)
                                        : world.arns.execution(meant.machine.name, name);
    }
};

std::expected<Start, Fault> read_start(const World& world, const Call& call) {
    auto name = text_if(call.body, "name").value_or(make_uuid());
    if (!is_name(name)) {
        return refuse("InvalidName", "Invalid Name: '{}'", name);
    }
    auto meant = TRY(find_meant(world, call.space, text_in(call.body, "stateMachineArn"), name));
    auto input = value::parse_json(text_if(call.body, "input").value_or("{}"));
    if (!input) {
        return refuse("InvalidExecutionInput", "Invalid State Machine Execution Input: '{}'",
                      input.error().message);
    }
    auto start = Start{.meant = std::move(meant), .name = name, .unique = {}, .request = {}};
    const auto& machine = start.meant.machine;
    auto id = workflow::asl::execution_run(machine.name, name);
    if (machine.is_express) {
        start.unique = make_uuid();
        id = workflow::asl::execution_run(id, start.unique);
    }
    auto labels = Value{};
    if (start.meant.state.number != 0) {
        labels = labels.with(version_label, std::to_string(start.meant.state.number));
    }
    if (!start.meant.alias.empty()) {
        labels = labels.with(alias_label, start.meant.alias);
    }
    start.request = {.space = call.space,
                     .id = std::move(id),
                     .definition = machine.name,
                     .version = start.meant.state.hash,
                     .input = *std::move(input),
                     .labels = std::move(labels)};
    return start;
}

/// Calls back with whether the run was there before.
void begin(World& world, const Start& start, const Responder& respond,
           std::function<void(bool)> then) {
    auto* quotas = world.services.quotas;
    auto admitted = quotas == nullptr ? std::expected<Quotas::Ticket, Problem>{}
                                      : quotas->admit_start(start.request.space);
    if (!admitted) {
        respond(refuse("ExecutionLimitExceeded", "{}", admitted.error().detail));
        return;
    }
    world.services.engine.start(start.request,
                                [respond, then = std::move(then),
                                 ticket = *std::move(admitted)](const Result<Value>& started) {
                                    if (started) {
                                        then(flag_in(*started, "existing"));
                                    } else {
                                        respond(std::unexpected(fault_of(started.error())));
                                    }
                                });
}

/// The same start again, while it runs, is the same execution; anything else is refused.
void answer_existing(World& world, const Start& start, const Responder& respond) {
    auto arn = Arn{
        .kind = Arn::Kind::Execution, .name = start.meant.machine.name, .qualifier = start.name};
    auto then = [text = start.arn(world), input = start.request.input,
                 respond](std::expected<Seen, Fault> seen) {
        if (!seen) {
            respond(std::unexpected(seen.error()));
            return;
        }
        if (seen->status() != "RUNNING" || value_in(seen->view, "input") != input) {
            respond(refuse("ExecutionAlreadyExists", "Execution Already Exists: '{}'", text));
            return;
        }
        respond(Value::object(
            {{"executionArn", text},
             {"startDate", seconds_of(value_in(seen->view, "started").as_timestamp())}}));
    };
    find_execution(world, start.request.space, arn, std::move(then));
}

void start_execution(World& world, const Call& call, const Responder& respond) {
    auto start = read_start(world, call);
    if (!start) {
        respond(std::unexpected(start.error()));
        return;
    }
    begin(world, *start, respond, [&world, start = *start, respond](bool is_existing) {
        if (is_existing) {
            answer_existing(world, start, respond);
            return;
        }
        respond(Value::object({{"executionArn", start.arn(world)},
                               {"startDate", seconds_of(world.services.clock.wall())}}));
    });
}

Value sync_view(const World& world, const Start& start, const Seen& seen, const Value& result) {
    auto started = value_in(seen.view, "started").as_timestamp();
    auto ended = value_in(seen.view, "ended");
    auto stopped = ended.is_timestamp() ? ended.as_timestamp() : world.services.clock.wall();
    auto taken = std::chrono::ceil<std::chrono::milliseconds>(stopped - started).count();
    auto view =
        Value::object({{"executionArn", start.arn(world)},
                       {"stateMachineArn", world.arns.machine(start.meant.machine.name)},
                       {"name", start.name},
                       {"status", seen.status() == "ABORTED" ? "FAILED" : seen.status()},
                       {"startDate", seconds_of(started)},
                       {"stopDate", seconds_of(stopped)},
                       {"input", value::to_json(value_in(seen.view, "input"))},
                       {"inputDetails", Value::object({{"included", true}})},
                       {"billingDetails",
                        Value::object({{"billedDurationInMilliseconds", Value{std::int64_t{taken}}},
                                       {"billedMemoryUsedInMB", 0}})}});
    return with_outcome(std::move(view), seen, result);
}

/// The engine fills in what a result has by reference, so it is taken from there.
void answer_ended(World& world, const Start& start, const Value& ending, const Responder& respond) {
    auto arn = Arn{.kind = Arn::Kind::Execution,
                   .name = start.meant.machine.name,
                   .qualifier = workflow::asl::execution_run(start.name, start.unique)};
    find_execution(world, start.request.space, arn,
                   [&world, start, respond,
                    result = value_in(ending, "result")](const std::expected<Seen, Fault>& seen) {
                       if (seen) {
                           respond(sync_view(world, start, *seen, result));
                       } else {
                           respond(std::unexpected(seen.error()));
                       }
                   });
}

void await_end(World& world, const Start& start, const Responder& respond) {
    auto is_answered = std::make_shared<std::atomic<bool>>(false);
    auto waiting = std::make_shared<const Responder>(respond);
    auto run = engine::RunName{.space = start.request.space, .id = start.request.id};
    auto id = world.services.engine.await(
        run, [&world, start, waiting, is_answered](const Result<Value>& ending) {
            if (is_answered->exchange(true)) {
                return;
            }
            if (ending) {
                answer_ended(world, start, *ending, *waiting);
            } else {
                (*waiting)(std::unexpected(fault_of(ending.error())));
            }
        });
    // Held weakly: once the run has ended, nothing is to wait for the rest of the time.
    auto held = std::weak_ptr{waiting};
    world.services.timers.after(sync_wait_max, [&world, run, id, held, is_answered] {
        auto late = held.lock();
        if (late && !is_answered->exchange(true)) {
            world.services.engine.abandon(run, id);
            (*late)(std::unexpected(Fault{.type = "ServiceUnavailableException",
                                          .message = "the execution has not ended in time",
                                          .status = 503}));
        }
    });
}

void start_sync_execution(World& world, const Call& call, const Responder& respond) {
    auto start = read_start(world, call);
    if (!start) {
        respond(std::unexpected(start.error()));
        return;
    }
    if (!start->meant.machine.is_express) {
        respond(refuse("StateMachineTypeNotSupported",
                       "This operation is not supported by this type of state machine"));
        return;
    }
    begin(world, *start, respond,
          [&world, start = *start, respond](bool) { await_end(world, start, respond); });
}

void stop_execution(World& world, const Call& call, const Responder& respond) {
    auto error = Value::object({});
    for (auto name : {"error", "cause"}) {
        if (auto text = text_if(call.body, name)) {
            error = error.with(name, *text);
        }
    }
    find_execution(
        world, call, [&world, call, respond, error](const std::expected<Seen, Fault>& seen) {
            if (!seen) {
                respond(std::unexpected(seen.error()));
                return;
            }
            if (!seen->child.empty()) {
                stop_child(world, call, *seen, respond);
                return;
            }
            if (auto ended = value_in(seen->view, "ended"); ended.is_timestamp()) {
                respond(Value::object({{"stopDate", seconds_of(ended.as_timestamp())}}));
                return;
            }
            world.services.engine.command(
                seen->run, std::string{trigger::types::run_terminate},
                Value::object({{"error", error}}), [&world, respond](const Result<Value>& done) {
                    if (done) {
                        respond(
                            Value::object({{"stopDate", seconds_of(world.services.clock.wall())}}));
                    } else {
                        respond(std::unexpected(fault_of(done.error())));
                    }
                });
        });
}

void redrive_execution(World& world, const Call& call, const Responder& respond) {
    find_execution(world, call, [&world, respond](const std::expected<Seen, Fault>& seen) {
        if (!seen) {
            respond(std::unexpected(seen.error()));
            return;
        }
        if (!seen->child.empty()) {
            respond(refuse("ExecutionNotRedrivable",
                           "A child of a Map Run is redriven with the execution of its parent"));
            return;
        }
        world.services.engine.reopen(seen->run, {}, [&world, respond](const Result<Value>& done) {
            if (done) {
                respond(Value::object({{"redriveDate", seconds_of(world.services.clock.wall())}}));
            } else if (done.error().code == Errc::Conflict) {
                respond(refuse("ExecutionNotRedrivable", "{}", done.error().message));
            } else {
                respond(std::unexpected(fault_of(done.error())));
            }
        });
    });
}

} // namespace

std::vector<Operation> execution_operations() {
    auto start = std::vector<Parameter>{
        arn_parameter("stateMachineArn"), Parameter{.name = "name", .least = 1, .most = 80},
        text_parameter("input", input_characters_max), text_parameter("traceHeader", 256)};
    auto execution = arn_parameter("executionArn");
    return {{"StartExecution", works, start, start_execution},
            {"StartSyncExecution", works, start, start_sync_execution},
            {"StopExecution",
             changes,
             {execution, text_parameter("error", 256), text_parameter("cause", 32'768)},
             stop_execution},
            {"RedriveExecution",
             changes,
             {execution, text_parameter("clientToken", 64)},
             redrive_execution}};
}

} // namespace sluice::server::stepfunctions
