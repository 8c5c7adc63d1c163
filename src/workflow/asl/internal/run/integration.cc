#include "workflow/asl/internal/run/integration.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "expr/states/digest.h"
#include "value/json.h"
#include "value/wording.h"
#include "workflow/asl/compile.h"
#include "workflow/asl/internal/run/context_object.h"
#include "workflow/asl/resource_names.h"

namespace sluice::workflow::asl::internal::run {

namespace {

using value::text_at;

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

/// `NAME`, or `NAME:VERSION`, of `arn:aws:states:…:stateMachine:NAME:VERSION`.
std::string machine_named(std::string_view text) {
    auto mark = text.find("stateMachine:");
    return std::string{mark == std::string_view::npos ? text : text.substr(mark + 13)};
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

Work nested(const TaskState& task, const Value& arguments) {
    auto input = value_at(arguments, "Input");
    if (input.is_string()) {
        if (auto parsed = value::parse_json(input.as_string())) {
            input = *std::move(parsed); // The API takes it as JSON text.
        }
    }
    input = input.is_null() ? Value::map({}) : input;
    auto target = machine_named(text_at(arguments, "StateMachineArn"));
    auto machine = target.substr(0, target.find(':'));
    auto name = text_at(arguments, "Name");
    if (task.pattern == Pattern::Sync || task.pattern == Pattern::Sync2) {
        return {.kind = trigger::TaskKind::Run,
                .target = target,
                .input = std::move(input),
                .child = name,
                .machine = machine};
    }
    auto request = Value::object({{"machine", machine}, {"name", name}, {"input", input}});
    return {.target = std::string{start_function},
            .input = target == machine ? request : request.with("target", target)};
}

/// Milliseconds since 1970, as the service writes times into payloads.
Value milliseconds_of(Time time) {
    return Value{std::int64_t{
        std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count()}};
}

constexpr auto latest = std::string_view{"$LATEST"};

/// `Mon, 16 Nov 2026 13:05:00 GMT`
std::string http_date(Time time) {
    static constexpr std::string_view days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static constexpr std::string_view months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    auto day = std::chrono::floor<std::chrono::days>(time);
    auto date = std::chrono::year_month_day{day};
    auto clock = std::chrono::hh_mm_ss{std::chrono::floor<std::chrono::seconds>(time - day)};
    return fmt::format(
        "{}, {:02} {} {} {:02}:{:02}:{:02} GMT", days[std::chrono::weekday{day}.c_encoding()],
        static_cast<unsigned>(date.day()), months[static_cast<unsigned>(date.month()) - 1],
        static_cast<int>(date.year()), clock.hours().count(), clock.minutes().count(),
        clock.seconds().count());
}

/// `Root=1-`, the time and 24 digits that nothing else has, as X-Ray names a trace.
std::string trace_id(Time now, std::string id) {
    std::erase(id, '-');
    auto seconds = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
    return fmt::format("Root=1-{:08x}-{}", static_cast<std::uint32_t>(seconds), id.substr(0, 24));
}

/// What the service tells of its request to a function; the ids in it are our own.
Value http_metadata(const Value& result, Time now, const std::string& id) {
    auto headers = std::vector<value::Member>{
        {"Connection", "keep-alive"},
        {"Content-Length", std::to_string(value::to_json(result).size())},
        {"Content-Type", "application/json"},
        {"Date", http_date(now)},
        {"X-Amz-Executed-Version", latest},
        {"X-Amzn-Trace-Id", trace_id(now, id)},
        {"x-amzn-Remapped-Content-Length", "0"},
        {"x-amzn-RequestId", id}};
    auto all = std::vector<value::Member>{};
    for (const auto& [name, value] : headers) {
        all.push_back({name, Value::list({value})});
    }
    return Value::object({{"AllHttpHeaders", Value::map(std::move(all))},
                          {"HttpHeaders", Value::map(std::move(headers))},
                          {"HttpStatusCode", 200}});
}

std::string md5_of(const Value& body) {
    auto text = body.is_string() ? std::string{body.as_string()} : value::to_json(body);
    return expr::states::hex_digest(text, "MD5").value_or("");
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
        return nested(task, arguments);
    }
    if (!program.is_tried && is_message(task)) {
        return message(task, arguments);
    }
    return {.target = fmt::format("{}:{}", task.service, task.action), .input = arguments};
}

Value as_answer(const Program& program, const TaskState& task, const Value& result, Time now,
                const std::string& id) {
    if (task.service == "lambda" && task.action != "function") {
        return Value::object({{"ExecutedVersion", latest},
                              {"Payload", result},
                              {"SdkHttpMetadata", http_metadata(result, now, id)},
                              {"SdkResponseMetadata", Value::object({{"RequestId", id}})},
                              {"StatusCode", 200}});
    }
    if (task.service == "states" && task.action == "startExecution") {
        return NestedExecution::from_memory(result).start_view(program);
    }
    return result;
}

Value message_answer(const TaskState& task, const Value& arguments, const std::string& id) {
    if (task.service == "sqs") {
        return Value::object(
            {{"MD5OfMessageBody", md5_of(value_at(arguments, "MessageBody"))}, {"MessageId", id}});
    }
    if (task.service == "sns") {
        return Value::object({{"MessageId", id}});
    }
    auto entries = std::vector<Value>{};
    auto given = value_at(arguments, "Entries");
    for (auto at = std::size_t{0}; given.is_list() && at < given.size(); ++at) {
        entries.push_back(Value::object({{"EventId", fmt::format("{}-{}", id, at)}}));
    }
    return Value::object({{"Entries", Value::list(std::move(entries))}, {"FailedEntryCount", 0}});
}

Value NestedExecution::to_memory() const {
    return Value::object(
        {{"machine", machine}, {"name", name}, {"input", input}, {"started", Value{started}}});
}

NestedExecution NestedExecution::from_memory(const Value& memory) {
    auto began = value_at(memory, "started");
    return {.machine = text_at(memory, "machine"),
            .name = text_at(memory, "name"),
            .input = value_at(memory, "input"),
            .started = began.is_timestamp() ? began.as_timestamp() : Time{}};
}

Value NestedExecution::start_view(const Program& program) const {
    return Value::object(
        {{"ExecutionArn", arn_of(program, "execution", execution_run(machine, name))},
         {"StartDate", milliseconds_of(started)}});
}

Value NestedExecution::end_view(const Program& program, Pattern pattern, const Value& end,
                                Time stopped) const {
    auto is_text = pattern == Pattern::Sync;
    auto as_given = [&](const Value& payload) {
        return is_text ? Value{value::to_json(payload)} : payload;
    };
    auto included = Value::object({{"Included", true}});
    auto view = start_view(program)
                    .with("Input", as_given(input))
                    .with("InputDetails", included)
                    .with("Name", name)
                    .with("StateMachineArn", arn_of(program, "stateMachine", machine))
                    .with("Status", value_at(end, "status"))
                    .with("StopDate", milliseconds_of(stopped));
    if (const auto* output = end.find("output")) {
        return view.with("Output", as_given(*output))
            .with("OutputDetails", included)
            .with("RedriveCount", 0)
            .with("RedriveStatus", "NOT_REDRIVABLE")
            .with("RedriveStatusReason", "Execution is SUCCEEDED and cannot be redriven");
    }
    for (auto [name_here, name_there] : {std::pair{"Error", "error"}, {"Cause", "cause"}}) {
        if (const auto* found = end.find(name_there)) {
            view = view.with(name_here, *found);
        }
    }
    return view;
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
