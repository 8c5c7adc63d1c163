#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/base64.h"
#include "event/trace.h"
#include "expr/program.h"
#include "expr/states/digest.h"
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

std::optional<std::string> text_in(const Value& map, std::string_view name) {
    const auto* found = map.find(name);
    return found != nullptr && found->is_string() ? std::optional{std::string{found->as_string()}}
                                                  : std::nullopt;
}

/// As a mock gives it: docs/reference/states-language/run.md.
TaskOutcome mocked_outcome(const Value& given) {
    auto outcome = TaskOutcome{};
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

/// A digest that needs the key to be made. Hashed twice, so that nothing can be added to the text.
std::string sealed(const std::string& key, const std::string& text) {
    auto hash = [&](const std::string& part) {
        return expr::states::hex_digest(key + part, "SHA-256").value_or("");
    };
    return hash(hash(text));
}

/// How long comparing takes does not tell how much of it is right.
bool is_same_token(std::string_view left, std::string_view right) {
    auto difference = left.size() ^ right.size();
    for (auto at = std::size_t{0}; at < std::min(left.size(), right.size()); ++at) {
        difference |= static_cast<unsigned char>(left[at]) ^ static_cast<unsigned char>(right[at]);
    }
    return difference == 0;
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

/// Names the run, the scope, the state and the attempt that somebody else is to answer. Nobody who
/// was not given it can make it, and deciding again gives the same.
std::string Walk::token_of(const Visit& visit) const {
    auto text = fmt::format("{}\n{}\n{}\n{}\n{}\n", state().id, visit.frame.scope->raw(),
                            visit.number, visit.entered, visit.retries);
    auto started = state().info.started.time_since_epoch().count();
    return base64_encode(text + sealed(program_.token_key, fmt::format("{}{}", text, started)));
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
    auto& frame = visit.frame;
    auto kind = event_kind(task);
    frame.last = tell(*frame.tally, kind, "Scheduled", frame.last, [&] {
        auto told = Value::map({});
        if (kind == "Task") {
            told = told.with("parameters", *arguments).with("region", program_.region);
        } else {
            told = told.with("input", *arguments).with("resource", task.resource);
        }
        if (timeout) {
            told = told.with("timeoutInSeconds", as_value(*timeout));
        }
        if (visit.seconds > 0) {
            told = told.with("heartbeatInSeconds", as_value(visit.seconds));
        }
        if (const auto* role = credentials->find("RoleArn")) {
            told = told.with("taskCredentials", Value::object({{"roleArn", *role}}));
        }
        return named(task, std::move(told));
    });
    frame.last = tell(*frame.tally, kind, "Started", frame.last, [&] {
        auto told = Value{};
        if (kind == "Task") {
            told = named(task, Value::map({}));
        }
        return told;
    });
    open(frame);
    visit.timer =
        timeout ? set_timer(visit, std::chrono::seconds{*timeout}, words::timeout).raw() : 0;
    visit.pulse =
        visit.seconds > 0
            ? set_timer(visit, std::chrono::seconds{visit.seconds}, words::heartbeat).raw()
            : 0;
    return call(visit, *arguments);
}

Step Walk::call(Visit& visit, const Value& arguments) {
    auto work = work_of(program_, visit.state, arguments);
    auto key = firing_.next_key();
    if (work.kind == trigger::TaskKind::Sink) {
        firing_.send({.type = "sluice.message",
                      .subject = handle_of(machine(), visit.number),
                      .data = work.input,
                      .scope = {}},
                     true, work.target);
        auto sent =
            message_answer(task_of(visit), arguments,
                           uuid_of(state().id, fmt::format("{}-{}", key.fire.raw(), key.index)));
        auto is_awaited = task_of(visit).pattern == Pattern::WaitForTaskToken;
        return take_outcome(visit, {.submitted = is_awaited ? std::optional{sent} : std::nullopt,
                                    .result = is_awaited ? std::nullopt : std::optional{sent},
                                    .is_final = !is_awaited});
    }
    auto policy = Value{};
    if (auto trace = event::trace_of(firing_.event()); !trace.empty()) {
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
        auto nested = NestedExecution{
            .machine = task.target,
            .name = work.child.empty()
                        ? uuid_of(state().id, fmt::format("{}-{}", key.fire.raw(), key.index))
                        : work.child,
            .input = task.input,
            .started = firing_.decider().moment().time};
        task.child = execution_run(nested.machine, nested.name);
        if (!trigger::is_given_run_id(task.child)) {
            return take_outcome(visit, {.failure = invalid_name(nested.name), .is_final = true});
        }
        visit.nested = nested.to_memory();
        visit.frame.last = tell(*visit.frame.tally, "Task", "Submitted", visit.frame.last, [&] {
            return named(task_of(visit), Value::object({{"output", nested.start_view(program_)}}));
        });
    }
    firing_.record(trigger::TaskOpened{.key = key, .task = std::move(task)});
    store(visit, words::running);
    return {};
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
    if (!visit.nested.is_null()) {
        return take_outcome(visit, nested_outcome(visit, given));
    }
    if (!is_success) {
        const auto* error = data.find("error");
        return take_outcome(
            visit, {.failure = failure_of(error == nullptr ? Value{} : *error), .is_final = true});
    }
    auto answer = as_answer(program_, task, given);
    if (task.pattern == Pattern::WaitForTaskToken) {
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

std::optional<Visit> Walk::holder_of(std::string_view token) {
    auto text = base64_decode(token);
    auto parts = std::array<std::string_view, 4>{};
    auto rest = text ? std::string_view{*text} : std::string_view{};
    for (auto& part : parts) {
        part = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    }
    auto number = [](std::string_view digits) {
        auto count = std::uint64_t{0};
        for (auto digit : digits.substr(0, 18)) {
            count = count * 10 + static_cast<std::uint64_t>(digit - '0') % 10;
        }
        return count;
    };
    auto scope = trigger::Incarnation{number(parts[1])};
    auto state_number = number(parts[2]);
    if (parts[0] != state().id || state_number >= machine().states.size() ||
        state().path_of(scope) == nullptr) {
        return std::nullopt;
    }
    const auto& memory =
        memory_of(scope, trigger::TriggerNumber{static_cast<std::uint32_t>(state_number)});
    const auto* held = memory.find("token");
    if (held == nullptr || !held->is_string() || !is_same_token(held->as_string(), token)) {
        return std::nullopt;
    }
    auto& frame = load_frame(scope, machine().states[state_number].flow);
    auto visit = std::optional<Visit>{std::in_place, machine(),
                                      static_cast<StateNumber>(state_number), frame};
    visit->restore(memory);
    return visit;
}

namespace {

std::unexpected<expr::Fault> nobody() {
    return std::unexpected(expr::Fault{.code = "task_timed_out",
                                       .message = "no task waits for an answer to this token"});
}

} // namespace

trigger::Attempt<void> Walk::answer(const Value& params) {
    auto visit = holder_of(text_in(params, "token").value_or(""));
    if (!visit) {
        return nobody();
    }
    auto outcome = TaskOutcome{.is_final = true};
    if (const auto* output = params.find("output")) {
        outcome.result = *output;
    } else {
        outcome.failure =
            Failure{.error = text_in(params, "error"), .cause = text_in(params, "cause")};
    }
    conclude(&visit->frame, take_outcome(*visit, outcome));
    finish();
    return {};
}

trigger::Attempt<void> Walk::note_heartbeat(const Value& params) {
    auto visit = holder_of(text_in(params, "token").value_or(""));
    if (!visit) {
        return nobody();
    }
    if (visit->pulse > 0) {
        firing_.decider().remove_timer(trigger::TimerNumber{visit->pulse});
        visit->pulse =
            set_timer(*visit, std::chrono::seconds{visit->seconds}, words::heartbeat).raw();
        store(*visit, words::waiting);
    }
    return {};
}

} // namespace sluice::workflow::asl::internal::run
