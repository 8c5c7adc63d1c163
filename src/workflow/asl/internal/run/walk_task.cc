#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "trigger/arrival.h"
#include "trigger/ids.h"
#include "value/json.h"
#include "workflow/asl/history.h"
#include "workflow/asl/internal/data_flow.h"
#include "workflow/asl/internal/run/integration.h"
#include "workflow/asl/internal/run/walk.h"
#include "workflow/asl/internal/run/words.h"
#include "workflow/asl/resource_names.h"

namespace sluice::workflow::asl::internal::run {

namespace {

const TaskState& task_of(const Visit& visit) {
    return std::get<TaskState>(visit.state.details);
}

/// Every event of an integration names it.
Value named(const TaskState& task, Value told) {
    if (event_kind(task) != "Task") {
        return told;
    }
    return told.with("resource", resource_text(task)).with("resourceType", task.service);
}

Value failure_told(const TaskState& task, const Failure& failure) {
    auto told = Value::map({});
    if (failure.error) {
        told = told.with("error", *failure.error);
    }
    if (failure.cause) {
        told = told.with("cause", *failure.cause);
    }
    return named(task, std::move(told));
}

/// As a mock gives it: docs/reference/states-language/run.md.
TaskOutcome mocked_outcome(const Value& given) {
    auto outcome = TaskOutcome{.worker = text_in(given, "worker").value_or("")};
    if (const auto* submitted = given.find("submitted")) {
        outcome.submitted = *submitted;
    }
    if (given.find("timeout") != nullptr || given.find("pending") != nullptr) {
        return outcome;
    }
    outcome.is_final = true;
    outcome.event = text_in(given, "event").value_or("");
    if (const auto* result = given.find("result")) {
        outcome.result = *result;
    } else {
        outcome.failure =
            Failure{.error = text_in(given, "error"), .cause = text_in(given, "cause")};
    }
    return outcome;
}

/// Nobody has created the activity, or it was deleted meanwhile.
bool is_unknown(const TaskState& task, const Value& error) {
    return task.service == "activity" && text_in(error, "kind") == "unknown_function";
}

Failure no_activity(const TaskState& task) {
    return {.error = std::string{errors::runtime},
            .cause = fmt::format("The activity {} does not exist.", task.resource)};
}

Failure invalid_name(std::string_view name) {
    return {.error = "StepFunctions.InvalidNameException",
            .cause = fmt::format("Invalid Name: '{}' (Service: Sfn, Status Code: 400)", name)};
}

/// Kinds of our own that the language has a name for.
Failure failure_of(const Value& error) {
    auto kind = text_in(error, "kind");
    auto message = text_in(error, "message");
    return {.error = kind == "timeout" ? std::string{errors::timeout} : kind, .cause = message};
}

} // namespace

Evaluated<void> Walk::read_times(Visit& visit, const Sight& sight,
                                 std::optional<std::uint64_t>& timeout) {
    const auto& task = task_of(visit);
    if (task.timeout_seconds.is_given()) {
        timeout = TRY(read_count(task.timeout_seconds, "TimeoutSeconds", sight));
    }
    if (task.heartbeat_seconds.is_given()) {
        visit.seconds = static_cast<std::uint64_t>(
            TRY(read_count(task.heartbeat_seconds, "HeartbeatSeconds", sight)));
    }
    return {};
}

Step Walk::begin_task(Visit& visit) {
    const auto& state = visit.state;
    const auto& task = task_of(visit);
    visit.nested = {};
    if (task.pattern == Pattern::WaitForTaskToken) {
        open(visit.frame);
        visit.token = token_of(visit);
    }
    auto view = View{*this, visit};
    auto is_jsonata = state.language == Language::Jsonata;
    auto data = is_jsonata ? Evaluated<Value>{visit.input}
                           : apply_path(state.input_path, view.of(visit.input));
    if (!data) {
        return fault(visit, std::move(data.error()));
    }
    auto sight = view.of(*data);
    auto timeout = std::optional<std::uint64_t>{};
    if (auto read = read_times(visit, sight, timeout); !read) {
        return fault(visit, std::move(read.error()));
    }
    auto arguments = state.parameters ? state.parameters->evaluate(
                                            sight, is_jsonata ? "Arguments" : "Parameters")
                                      : std::move(data);
    auto credentials = task.credentials ? task.credentials->evaluate(sight, "Credentials")
                                        : Evaluated<Value>{Value{}};
    if (!arguments || !credentials) {
        return fault(visit, std::move(arguments ? credentials.error() : arguments.error()));
    }
    if (std::ranges::find(program_.absent, visit.number) != program_.absent.end()) {
        return fault(visit, no_activity(task));
    }
    tell_scheduled(visit, *arguments, *credentials, timeout);
    auto& frame = visit.frame;
    open(frame);
    visit.timer =
        timeout ? set_timer(visit, std::chrono::seconds{*timeout}, words::timeout).raw() : 0;
    visit.pulse =
        visit.seconds > 0
            ? set_timer(visit, std::chrono::seconds{visit.seconds}, words::heartbeat).raw()
            : 0;
    return call(visit, *arguments);
}

void Walk::tell_scheduled(Visit& visit, const Value& arguments, const Value& credentials,
                          std::optional<std::uint64_t> timeout) {
    const auto& task = task_of(visit);
    auto& frame = visit.frame;
    auto kind = event_kind(task);
    frame.last = tell(*frame.tally, kind, "Scheduled", frame.last, [&] {
        auto told = Value::map({});
        if (kind == "Task") {
            told = told.with("parameters", arguments).with("region", program_.region);
        } else {
            told = told.with("input", arguments).with("resource", task.resource);
        }
        if (timeout) {
            told = told.with("timeoutInSeconds", as_value(*timeout));
        }
        if (visit.seconds > 0) {
            told = told.with("heartbeatInSeconds", as_value(visit.seconds));
        }
        if (const auto* role = credentials.find("RoleArn")) {
            told = told.with("taskCredentials", Value::object({{"roleArn", *role}}));
        }
        return named(task, std::move(told));
    });
    visit.is_begun = false;
    if (task.service != "activity") {
        frame.last = tell(*frame.tally, kind, "Started", frame.last,
                          [&] { return kind == "Task" ? named(task, Value::map({})) : Value{}; });
    }
}

Step Walk::call(Visit& visit, const Value& arguments) {
    auto work = work_of(program_, visit.state, arguments);
    auto key = firing_.next_key();
    auto id = [&] { return uuid_of(state().id, fmt::format("{}-{}", key.fire.raw(), key.index)); };
    if (work.kind == trigger::TaskKind::Sink) {
        return send_message(visit, work, message_answer(task_of(visit), arguments, id()));
    }
    auto policy = Value{};
    if (const auto& trace = firing_.trace(); !trace.empty()) {
        policy = Value::object({{"traceparent", trace}});
    }
    auto task = trigger::TaskState{.kind = work.kind,
                                   .target = std::move(work.target),
                                   .subject = handle_of(machine(), visit.number),
                                   .input = std::move(work.input),
                                   .policy = std::move(policy),
                                   .scope = *visit.frame.scope,
                                   .trigger = trigger_of(visit)};
    if (work.kind == trigger::TaskKind::Run) {
        auto name = work.child.empty() ? id() : work.child;
        task.child = execution_run(work.machine, name);
        if (!trigger::is_given_run_id(task.child)) {
            return take_outcome(visit, {.failure = invalid_name(name), .is_final = true});
        }
        tell_nested(visit, {.machine = work.machine,
                            .name = name,
                            .input = task.input,
                            .started = firing_.decider().moment().time});
    }
    firing_.record(trigger::TaskOpened{.key = key, .task = std::move(task)});
    store(visit, words::running);
    return {};
}

Step Walk::send_message(Visit& visit, const Work& work, const Value& answer) {
    firing_.send({.type = "sluice.message",
                  .subject = handle_of(machine(), visit.number),
                  .data = work.input,
                  .scope = {}},
                 true, work.target);
    if (task_of(visit).pattern == Pattern::WaitForTaskToken) {
        return take_outcome(visit, {.submitted = answer});
    }
    return take_outcome(visit, {.result = answer, .is_final = true});
}

void Walk::tell_nested(Visit& visit, const NestedExecution& nested) {
    visit.nested = nested.to_memory();
    visit.frame.last = tell(*visit.frame.tally, "Task", "Submitted", visit.frame.last, [&] {
        return named(task_of(visit), Value::object({{"output", nested.start_view(program_)}}));
    });
}

Step Walk::take_answer(Visit& visit) {
    const auto& event = firing_.event();
    auto data = event.data();
    auto type = event.type();
    auto is_success =
        type == trigger::types::task_succeeded || type == trigger::types::run_succeeded;
    const auto* result = data.find("result");
    auto given = result == nullptr ? Value{} : *result;
    const auto& task = task_of(visit);
    if (program_.is_mocked && is_success) {
        return take_outcome(visit, mocked_outcome(given));
    }
    const auto* error = data.find("error");
    if (error != nullptr && is_unknown(task, *error)) {
        remove_timers(visit);
        return fault(visit, no_activity(task));
    }
    if (!visit.nested.is_null()) {
        return take_outcome(visit, nested_outcome(visit, given));
    }
    if (!is_success) {
        return take_outcome(
            visit, {.failure = failure_of(error == nullptr ? Value{} : *error), .is_final = true});
    }
    auto is_awaited = task.pattern == Pattern::WaitForTaskToken;
    if (is_awaited && program_.is_tried) {
        // Whoever answers the call stands for whoever has the token.
        return take_outcome(visit,
                            {.submitted = Value::map({}), .result = given, .is_final = true});
    }
    auto answer = as_answer(
        program_, task, given, firing_.decider().moment().time,
        uuid_of(state().id,
                fmt::format("{}-{}-{}", visit.entered, visit.retries, state().progress.events)));
    if (is_awaited) {
        return take_outcome(visit, {.submitted = std::move(answer)});
    }
    return take_outcome(visit, {.result = std::move(answer), .is_final = true});
}

/// How a nested execution ended, in the service's shape; one that did not succeed is a failure with
/// its description as the cause.
TaskOutcome Walk::nested_outcome(Visit& visit, const Value& result) const {
    auto nested = NestedExecution::from_memory(std::exchange(visit.nested, {}));
    auto data = firing_.event().data();
    auto type = firing_.event().type();
    auto status = type == trigger::types::run_succeeded   ? trigger::Status::Succeeded
                  : type == trigger::types::run_timed_out ? trigger::Status::TimedOut
                  : type == trigger::types::run_cancelled ? trigger::Status::Cancelled
                                                          : trigger::Status::Failed;
    const auto* error = data.find("error");
    auto end = execution_end(status, result, error == nullptr ? Value{} : *error);
    auto stopped = firing_.decider().moment().time;
    if (status == trigger::Status::Succeeded) {
        return {.result = nested.end_view(program_, task_of(visit).pattern, end, stopped),
                .is_final = true};
    }
    auto cause = value::to_json(nested.end_view(program_, Pattern::Sync, end, stopped));
    return {.failure = Failure{.error = std::string{errors::task_failed}, .cause = cause},
            .is_final = true};
}

Step Walk::take_outcome(Visit& visit, const TaskOutcome& outcome) {
    const auto& task = task_of(visit);
    auto& frame = visit.frame;
    auto kind = event_kind(task);
    begin_work(visit, outcome.worker);
    if (outcome.submitted) {
        frame.last = tell(*frame.tally, kind, "Submitted", frame.last, [&] {
            return named(task, Value::object({{"output", *outcome.submitted}}));
        });
    }
    if (!outcome.is_final) {
        store(visit, words::waiting);
        return {};
    }
    remove_timers(visit);
    cancel_work(visit);
    auto failure = outcome.failure;
    if (outcome.result && exceeds(*outcome.result)) {
        failure =
            Failure{.error = std::string{errors::data_limit},
                    .cause = fmt::format("The state/task '{}' returned a result with a size "
                                         "exceeding the maximum number of bytes service limit.",
                                         who_answers(task))};
    }
    if (failure) {
        auto is_unusual = outcome.event.starts_with(kind);
        auto type = is_unusual ? std::string_view{outcome.event}.substr(kind.size()) : "Failed";
        frame.last = tell(*frame.tally, kind, type, frame.last,
                          [&] { return failure_told(task, *failure); });
        visit.token.clear();
        return fail(visit, *std::move(failure));
    }
    frame.last = tell(*frame.tally, kind, "Succeeded", frame.last,
                      [&] { return named(task, Value::object({{"output", *outcome.result}})); });
    visit.token.clear();
    return complete(visit, *outcome.result);
}

Step Walk::time_out(Visit& visit, std::string_view error) {
    (error == errors::timeout ? visit.timer : visit.pulse) = 0;
    remove_timers(visit);
    cancel_work(visit);
    visit.token.clear();
    auto& frame = visit.frame;
    auto shown = Failure{.error = std::string{errors::timeout}};
    frame.last = tell(*frame.tally, event_kind(task_of(visit)), "TimedOut", frame.last,
                      [&] { return failure_told(task_of(visit), shown); });
    return fail(visit, {.error = std::string{error}});
}

/// Nobody waits for its calls any more.
void Walk::cancel_work(const Visit& visit) {
    auto members =
        visit.frame.scope ? state().members.find(*visit.frame.scope) : state().members.end();
    if (members == state().members.end()) {
        return;
    }
    auto calls = std::vector<trigger::TaskKey>{};
    std::ranges::copy_if(members->second.tasks, std::back_inserter(calls), [&](const auto& key) {
        const auto& task = state().tasks.at(key);
        return task.trigger == trigger_of(visit) && task.kind != trigger::TaskKind::Sink;
    });
    for (const auto& key : calls) {
        firing_.decider().cancel_task(key);
    }
}

/// Nobody has told of it yet: the event that does so is behind the others of the state.
void Walk::begin_work(Visit& visit, std::string_view worker) {
    if (task_of(visit).service != "activity" || std::exchange(visit.is_begun, true)) {
        return;
    }
    auto& frame = visit.frame;
    frame.last = tell(*frame.tally, "Activity", "Started", frame.last, [&] {
        return worker.empty() ? Value{} : Value::object({{"workerName", worker}});
    });
}

} // namespace sluice::workflow::asl::internal::run
