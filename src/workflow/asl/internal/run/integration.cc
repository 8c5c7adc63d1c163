#include "workflow/asl/internal/run/integration.h"

#include <fmt/format.h>

#include "trigger/ids.h"
#include "value/json.h"
#include "workflow/asl/compile.h"
#include "workflow/asl/internal/run/context_object.h"
#include "workflow/asl/resource_names.h"

namespace sluice::workflow::asl::internal::run {

namespace {

std::string text_at(const Value& map, std::string_view name) {
    const auto* found = map.find(name);
    return found != nullptr && found->is_string() ? std::string{found->as_string()} : "";
}

Value value_at(const Value& map, std::string_view name) {
    const auto* found = map.find(name);
    return found == nullptr ? Value{} : *found;
}

std::string last_part(std::string_view text, char separator) {
    return std::string{text.substr(text.rfind(separator) + 1)};
}

/// `arn:aws:lambda:us-east-1:123456789012:function:NAME:VERSION`, or a part of it, or NAME.
std::string function_named(std::string_view text) {
    auto mark = text.find("function:");
    auto name = mark == std::string_view::npos ? text : text.substr(mark + 9);
    return std::string{name.substr(0, name.find(':'))};
}

/// Of `arn:aws:states:…:stateMachine:NAME:VERSION`.
std::string machine_named(std::string_view text) {
    auto mark = text.find("stateMachine:");
    auto name = mark == std::string_view::npos ? text : text.substr(mark + 13);
    return std::string{name.substr(0, name.find(':'))};
}

bool is_message(const TaskState& task) {
    return task.service == "sqs" || task.service == "sns" || task.service == "events";
}

Work message(const TaskState& task, const Value& arguments) {
    auto work = Work{.kind = trigger::TaskKind::Sink};
    if (task.service == "sqs") {
        work.target = last_part(text_at(arguments, "QueueUrl"), '/');
        work.input = value_at(arguments, "MessageBody");
    } else if (task.service == "sns") {
        auto topic = text_at(arguments, "TopicArn");
        work.target = last_part(topic.empty() ? text_at(arguments, "TargetArn") : topic, ':');
        work.input = value_at(arguments, "Message");
    } else {
        work.target = "events";
        work.input = value_at(arguments, "Entries");
    }
    return work;
}

Work nested(const Value& arguments) {
    auto input = value_at(arguments, "Input");
    if (input.is_string()) {
        if (auto parsed = value::parse_json(input.as_string())) {
            input = *std::move(parsed); // The API takes it as JSON text.
        }
    }
    auto work = Work{.kind = trigger::TaskKind::Run,
                     .target = machine_named(text_at(arguments, "StateMachineArn")),
                     .input = input.is_null() ? Value::map({}) : input};
    if (auto name = text_at(arguments, "Name"); trigger::is_given_run_id(name)) {
        work.child = name;
    }
    return work;
}

} // namespace

Work work_of(const Program& program, const State& state, const Value& arguments) {
    const auto& task = std::get<TaskState>(state.details);
    if (program.is_mocked) {
        return {.target = std::string{mock_function},
                .input = Value::object(
                    {{"state", state.name}, {"resource", task.resource}, {"input", arguments}})};
    }
    if (task.service == "lambda") {
        if (task.action == "function") {
            return {.target = task.target, .input = arguments};
        }
        auto payload = value_at(arguments, "Payload");
        return {.target = function_named(text_at(arguments, "FunctionName")),
                .input = payload.is_null() ? Value::map({}) : payload};
    }
    if (task.service == "activity") {
        return {.target = activity_function(task.target), .input = arguments};
    }
    if (!program.is_tried && task.service == "states" && task.action == "startExecution") {
        return nested(arguments);
    }
    if (!program.is_tried && is_message(task)) {
        return message(task, arguments);
    }
    return {.target = fmt::format("{}:{}", task.service, task.action), .input = arguments};
}

Value as_answer(const Program& /*program*/, const TaskState& task, const Value& result) {
    if (task.service == "lambda" && task.action != "function") {
        return Value::object(
            {{"ExecutedVersion", "$LATEST"}, {"Payload", result}, {"StatusCode", 200}});
    }
    return result;
}

std::string_view event_kind(const TaskState& task) {
    if (task.service == "activity") {
        return "Activity";
    }
    return task.service == "lambda" && task.action == "function" ? "LambdaFunction" : "Task";
}

std::string resource_text(const TaskState& task) {
    switch (task.pattern) {
        case Pattern::RequestResponse: break;
        case Pattern::Sync: return task.action + ".sync";
        case Pattern::Sync2: return task.action + ".sync:2";
        case Pattern::WaitForTaskToken: return task.action + ".waitForTaskToken";
    }
    return task.action;
}

std::string_view who_answers(const TaskState& task) {
    return task.service;
}

} // namespace sluice::workflow::asl::internal::run
