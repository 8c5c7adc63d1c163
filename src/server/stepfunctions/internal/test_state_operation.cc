#include <algorithm>
#include <utility>

#include "base/fingerprint.h"
#include "server/stepfunctions/internal/definitions.h"
#include "server/stepfunctions/internal/identity.h"
#include "server/stepfunctions/internal/operation.h"
#include "value/json.h"
#include "workflow/asl/compile.h"
#include "workflow/asl/history.h"
#include "workflow/asl/parse.h"
#include "workflow/asl/test_state.h"

// TestState: one state, without an execution.
namespace sluice::server::stepfunctions {

namespace {

using workflow::asl::NeededCall;
using workflow::asl::StateTest;
using workflow::asl::StateTestOutcome;
using workflow::asl::TestMock;

constexpr auto payload_characters_max = std::uint64_t{262'144};
// How long the service waits.
constexpr auto call_seconds_max = 300;

/// A member that is JSON text; nothing when it is not there.
std::expected<std::optional<Value>, Fault> json_in(const Value& body, std::string_view name,
                                                   std::string_view type = "ValidationException") {
    auto text = text_if(body, name);
    if (!text) {
        return std::nullopt;
    }
    auto parsed = value::parse_json(*text);
    if (!parsed) {
        return refuse(std::string{type}, "{}: expected JSON: {}", name, parsed.error().message);
    }
    return *std::move(parsed);
}

std::expected<std::optional<TestMock>, Fault> read_mock(const Value& body) {
    auto form = value_in(body, "mock");
    if (!form.is_map()) {
        return std::nullopt;
    }
    auto result = TRY(json_in(form, "result"));
    auto error = value_in(form, "errorOutput");
    if (result.has_value() == error.is_map()) {
        return refuse("ValidationException",
                      "A test mock should have only one of the following fields: [result, "
                      "errorOutput].");
    }
    if (error.is_map() && !text_if(error, "error")) {
        return refuse("ValidationException", "mock.errorOutput: expected error, the name of it");
    }
    if (flag_in(body, "revealSecrets")) {
        return refuse("ValidationException",
                      "TestState does not support RevealSecrets when a mock is specified.");
    }
    auto mock = TestMock{};
    auto mode = text_in(form, "fieldValidationMode");
    mock.validation = mode == "NONE"      ? TestMock::Validation::None
                      : mode == "PRESENT" ? TestMock::Validation::Present
                                          : TestMock::Validation::Strict;
    if (result) {
        mock.outcome = *std::move(result);
    } else {
        mock.outcome =
            TestMock::Error{.error = text_if(error, "error"), .cause = text_if(error, "cause")};
    }
    return mock;
}

std::expected<StateTest, Fault> read_test(const World& world, const Call& call) {
    const auto& body = call.body;
    auto definition = workflow::asl::parse(text_in(body, "definition"));
    if (!definition) {
        return std::unexpected(invalid_definition({definition.error()}));
    }
    auto test = StateTest{.definition = *std::move(definition),
                          .state = text_in(body, "stateName"),
                          .failing_state = {},
                          .role = text_in(body, "roleArn"),
                          .account = world.arns.account,
                          .region = world.arns.region,
                          .now = world.services.clock.wall()};
    test.chance = hash64(make_uuid());
    test.input = TRY(json_in(body, "input", "InvalidExecutionInput")).value_or(Value::object({}));
    test.context = TRY(json_in(body, "context"));
    test.variables = TRY(json_in(body, "variables")).value_or(Value{});
    test.mock = TRY(read_mock(body));
    auto settings = value_in(body, "stateConfiguration");
    for (auto name : {"retrierRetryCount", "mapIterationFailureCount"}) {
        if (number_in(settings, name).value_or(0) < 0) {
            return refuse("ValidationException", "stateConfiguration.{}: expected 0 or more", name);
        }
    }
    test.retries = static_cast<std::uint32_t>(
        std::max<std::int64_t>(0, number_in(settings, "retrierRetryCount").value_or(0)));
    test.failing_state = text_in(settings, "errorCausedByState");
    if (auto failed = number_in(settings, "mapIterationFailureCount")) {
        test.failed_iterations = static_cast<std::uint64_t>(std::max<std::int64_t>(0, *failed));
    }
    test.reader_items = TRY(json_in(settings, "mapItemReaderData"));
    return test;
}

/// Payloads are told as JSON text.
Value inspection_view(const Value& inspection) {
    auto members = std::vector<value::Member>{};
    for (const auto& [name, value] : inspection.as_map()) {
        auto is_plain = name == "errorDetails" || name == "maxConcurrency" ||
                        name.starts_with("toleratedFailure");
        members.push_back({name, is_plain ? value : Value{value::to_json(value)}});
    }
    return Value::map(std::move(members));
}

Value outcome_view(const StateTestOutcome& outcome, std::string_view level) {
    auto view = Value::object({{"status", outcome.status}});
    if (outcome.output) {
        view = view.with("output", value::to_json(*outcome.output));
    }
    for (const auto& [name, text] :
         {std::pair{"error", outcome.error}, std::pair{"cause", outcome.cause}}) {
        view = text ? view.with(name, *text) : view;
    }
    if (!outcome.next_state.empty()) {
        view = view.with("nextState", outcome.next_state);
    }
    auto is_inspected = level == "DEBUG" || level == "TRACE";
    return is_inspected ? view.with("inspectionData", inspection_view(outcome.inspection)) : view;
}

/// A definition may be long, and what calls back must be quick.
void conclude_on_worker(World& world, const Call& call, StateTest test, const Responder& respond);

/// A machine that does nothing but this call. One definition for each resource: so none has ever
/// more versions.
Result<engine::StartRequest> call_request(World& world, const std::string& space,
                                          const NeededCall& needed) {
    auto state = Value::object({{"Type", "Task"},
                                {"Resource", needed.resource},
                                {"TimeoutSeconds", call_seconds_max},
                                {"End", true}});
    auto form = Value::object(
        {{"StartAt", "Call"}, {"States", Value::object({{"Call", std::move(state)}})}});
    auto name = fmt::format("sluice.test-state.{:016x}", hash64(needed.resource));
    auto compiled = workflow::asl::compile(form, {.name = name});
    auto definition = engine::Definition{.name = name,
                                         .language = compiled.language,
                                         .form = compiled.form,
                                         .source = value::to_json(form)};
    auto hash = TRY(world.services.engine.catalog().add(space, definition));
    return engine::StartRequest{.space = space,
                                .id = fmt::format("{}:{}", name, make_uuid()),
                                .definition = name,
                                .version = std::move(hash),
                                .input = needed.arguments,
                                .labels = {}};
}

/// What came of a call, in place of a mock.
TestMock mock_of(const Result<Value>& ending) {
    auto is_success = ending && text_in(*ending, "status") == "succeeded";
    auto end = workflow::asl::execution_end(
        is_success ? trigger::Status::Succeeded : trigger::Status::Failed,
        ending ? value_in(*ending, "result") : Value{},
        ending ? value_in(*ending, "error") : Value{});
    auto mock =
        TestMock{.outcome = value_in(end, "output"), .validation = TestMock::Validation::None};
    if (!is_success) {
        mock.outcome =
            TestMock::Error{.error = text_if(end, "error"), .cause = text_if(end, "cause")};
    }
    return mock;
}

/// Does what a task that is not mocked asks for, as a run of its own, and tests again with that.
void do_call(World& world, const Call& call, const StateTest& test, const NeededCall& needed,
             const Responder& respond) {
    auto request = call_request(world, call.space, needed);
    if (!request) {
        respond(std::unexpected(fault_of(request.error())));
        return;
    }
    auto run = engine::RunName{.space = call.space, .id = request->id};
    auto ended = [&world, call, test, run, respond](const Result<Value>& ending) {
        auto done = test;
        done.mock = mock_of(ending);
        world.services.engine.remove(run, engine::WhenRunning::Terminate,
                                     [](const Result<Value>&) {});
        conclude_on_worker(world, call, std::move(done), respond);
    };
    world.services.engine.start(*request,
                                [&world, run, respond, ended](const Result<Value>& started) {
                                    if (started) {
                                        world.services.engine.await(run, ended);
                                    } else {
                                        respond(std::unexpected(fault_of(started.error())));
                                    }
                                });
}

void conclude(World& world, const Call& call, const StateTest& test, const Responder& respond) {
    auto outcome = workflow::asl::test_state(test);
    if (!outcome) {
        respond(refuse(outcome.error().type, "{}", outcome.error().message));
    } else if (const auto* needed = std::get_if<NeededCall>(&*outcome)) {
        do_call(world, call, test, *needed, respond);
    } else {
        respond(outcome_view(std::get<StateTestOutcome>(*outcome),
                             text_in(call.body, "inspectionLevel")));
    }
}

void conclude_on_worker(World& world, const Call& call, StateTest test, const Responder& respond) {
    auto is_taken = world.services.workers.try_post(
        [&world, call, test = std::move(test), respond] { conclude(world, call, test, respond); });
    if (!is_taken) {
        respond(std::unexpected(fault_of({Errc::Unavailable, "too many requests wait"})));
    }
}

void test_state(World& world, const Call& call, const Responder& respond) {
    auto test = read_test(world, call);
    if (test) {
        conclude_on_worker(world, call, *std::move(test), respond);
    } else {
        respond(std::unexpected(test.error()));
    }
}

} // namespace

std::vector<Operation> test_state_operations() {
    auto map = [](std::string_view name) {
        return Parameter{.name = name, .kind = Parameter::Kind::Map};
    };
    return {{"TestState",
             works,
             {Parameter{.name = "definition",
                        .need = required,
                        .least = 1,
                        .most = definition_characters_max},
              arn_parameter("roleArn", optional), text_parameter("input", payload_characters_max),
              choice_parameter("inspectionLevel", {"INFO", "DEBUG", "TRACE"}),
              Parameter{.name = "revealSecrets", .kind = Parameter::Kind::Flag},
              text_parameter("variables", payload_characters_max), text_parameter("stateName", 80),
              map("mock"), text_parameter("context", payload_characters_max),
              map("stateConfiguration")},
             test_state}};
}

} // namespace sluice::server::stepfunctions
