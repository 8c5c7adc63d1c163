#include <utility>

#include "base/base64.h"
#include "event/sink.h"
#include "server/stepfunctions/internal/operation.h"
#include "server/stepfunctions/internal/task_word.h"
#include "trigger/arrival.h"
#include "trigger/history.h"
#include "value/json.h"
#include "workflow/asl/resource_names.h"

// SendTaskSuccess, SendTaskFailure, SendTaskHeartbeat: whoever has a task's token was given it.
namespace sluice::server::stepfunctions {

namespace {

constexpr auto output_characters_max = std::uint64_t{262'144};

std::unexpected<Fault> invalid_token() {
    return refuse("InvalidToken", "Invalid Token: 'Invalid token'");
}

std::unexpected<Fault> task_over() {
    return refuse("TaskTimedOut", "Task Timed Out: 'Provided task does not exist anymore'");
}

/// The run whose task a token of `.waitForTaskToken` names; empty: the token is none of those.
std::string run_of(const std::string& token) {
    auto text = base64_decode(token);
    auto end = text ? text->find('\n') : std::string::npos;
    return end == std::string::npos ? std::string{} : text->substr(0, end);
}

/// Of what a run was told about one of its tasks.
engine::Done replying(const Responder& respond) {
    return [respond](const Result<Value>& done) {
        if (done && text_in(*done, "fate") == "handled") {
            respond(Value::object({}));
        } else if (done || done.error().code == Errc::NotFound) {
            respond(task_over());
        } else {
            respond(std::unexpected(fault_of(done.error())));
        }
    };
}

/// Tells the run of the task that the token of the call names.
void tell_of_token(World& world, const Call& call, const std::string& run, std::string_view action,
                   const Value& params, const Responder& respond) {
    tell_run(world, {.space = call.space, .id = run}, action,
             params.with("token", text_in(call.body, "taskToken")), replying(respond));
}

void answer_task(World& world, const Call& call, event::Answer given, const Responder& respond) {
    world.services.engine.answer(
        text_in(call.body, "taskToken"), std::move(given), [respond](const Result<Value>& taken) {
            if (!taken) {
                respond(taken.error().code == Errc::InvalidInput
                            ? invalid_token()
                            : std::unexpected(fault_of(taken.error())));
            } else if (*taken->find("fate") == Value{to_string(trigger::Fate::Late)}) {
                respond(task_over());
            } else {
                respond(Value::object({}));
            }
        });
}

void send_success(World& world, const Call& call, const Responder& respond) {
    auto output = value::parse_json(text_in(call.body, "output"));
    if (!output) {
        respond(refuse("InvalidOutput", "Invalid Output: '{}'", output.error().message));
        return;
    }
    if (auto run = run_of(text_in(call.body, "taskToken")); !run.empty()) {
        tell_of_token(world, call, run, workflow::asl::answer_action,
                      Value::object({{"output", *std::move(output)}}), respond);
        return;
    }
    auto given = event::Answer{};
    given.result = *std::move(output);
    answer_task(world, call, std::move(given), respond);
}

void send_failure(World& world, const Call& call, const Responder& respond) {
    if (auto run = run_of(text_in(call.body, "taskToken")); !run.empty()) {
        auto failure = Value::object({});
        for (auto name : {"error", "cause"}) {
            if (auto text = text_if(call.body, name)) {
                failure = failure.with(name, *text);
            }
        }
        tell_of_token(world, call, run, workflow::asl::answer_action, std::move(failure), respond);
        return;
    }
    answer_task(world, call,
                event::failure(text_in(call.body, "error"), text_in(call.body, "cause")), respond);
}

void send_heartbeat(World& world, const Call& call, const Responder& respond) {
    if (auto run = run_of(text_in(call.body, "taskToken")); !run.empty()) {
        tell_of_token(world, call, run, workflow::asl::heartbeat_action, Value::object({}),
                      respond);
        return;
    }
    auto token = text_in(call.body, "taskToken");
    auto attempt = world.services.engine.attempt_of(token);
    if (!attempt) {
        respond(invalid_token());
        return;
    }
    auto go_on = [&world, attempt = *std::move(attempt), respond](const Result<Value>& is_open) {
        if (!is_open) {
            respond(std::unexpected(fault_of(is_open.error())));
        } else if (*is_open != Value{true}) {
            respond(task_over());
        } else {
            // The state has a clock of its own: the lease of the queue is none for it.
            tell_run(world, attempt.run, workflow::asl::heartbeat_action,
                     Value::object({{"task", task_of(attempt)}}), replying(respond));
        }
    };
    world.services.engine.heartbeat(token, 0, std::move(go_on));
}

} // namespace

std::vector<Operation> task_operations() {
    auto token = Parameter{.name = "taskToken", .need = required, .least = 1, .most = 2048};
    return {
        {"SendTaskSuccess",
         works,
         {token, text_parameter("output", output_characters_max, required)},
         send_success},
        {"SendTaskFailure",
         works,
         {token, text_parameter("error", 256), text_parameter("cause", 32'768)},
         send_failure},
        {"SendTaskHeartbeat", works, {token}, send_heartbeat},
    };
}

} // namespace sluice::server::stepfunctions
