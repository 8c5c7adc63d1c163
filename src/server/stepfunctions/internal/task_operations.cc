#include <utility>

#include "event/sink.h"
#include "server/stepfunctions/internal/operation.h"
#include "trigger/history.h"
#include "value/json.h"

// SendTaskSuccess, SendTaskFailure, SendTaskHeartbeat: whoever has a task's token was given it.
namespace sluice::server::stepfunctions {

namespace {

constexpr auto output_characters_max = std::uint64_t{262'144};
constexpr auto by_token = Policy{Role::Operator, false, false};

std::unexpected<Fault> invalid_token() {
    return refuse("InvalidToken", "Invalid Token: 'Invalid token'");
}

std::unexpected<Fault> task_over() {
    return refuse("TaskTimedOut", "Task Timed Out: 'Provided task does not exist anymore'");
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
    auto given = event::Answer{};
    given.result = *std::move(output);
    answer_task(world, call, std::move(given), respond);
}

void send_failure(World& world, const Call& call, const Responder& respond) {
    answer_task(world, call,
                event::failure(text_in(call.body, "error"), text_in(call.body, "cause")), respond);
}

void send_heartbeat(World& world, const Call& call, const Responder& respond) {
    auto is_open = world.services.engine.heartbeat(text_in(call.body, "taskToken"), 0);
    if (!is_open) {
        respond(invalid_token());
    } else if (!*is_open) {
        respond(task_over());
    } else {
        respond(Value::object({}));
    }
}

} // namespace

std::vector<Operation> task_operations() {
    auto token = Parameter{.name = "taskToken", .need = required, .least = 1, .most = 2048};
    return {
        {"SendTaskSuccess",
         by_token,
         {token, text_parameter("output", output_characters_max, required)},
         send_success},
        {"SendTaskFailure",
         by_token,
         {token, text_parameter("error", 256), text_parameter("cause", 32'768)},
         send_failure},
        {"SendTaskHeartbeat", by_token, {token}, send_heartbeat},
    };
}

} // namespace sluice::server::stepfunctions
