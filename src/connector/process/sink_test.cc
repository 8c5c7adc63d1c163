#include "connector/process/sink.h"

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reactor/testing/manual_scheduler.h"
#include "value/json.h"

namespace sluice::connector::process {
namespace {

using event::Answer;
using event::Delivery;
using std::chrono::milliseconds;

Function shell(std::string script) {
    return {.argv = {"/bin/sh", "-c", std::move(script)}};
}

Delivery call_of(std::string function, Value input = {}) {
    auto delivery = Delivery{};
    delivery.key = "run/1/0";
    delivery.token = "token";
    delivery.attempt = 2;
    delivery.target = std::move(function);
    delivery.payload = std::move(input);
    return delivery;
}

std::future<Answer> deliver(Sink& sink, Delivery delivery) {
    auto promise = std::promise<Answer>{};
    auto answer = promise.get_future();
    sink.deliver(std::move(delivery), [promise = std::move(promise)](Answer given) mutable {
        promise.set_value(std::move(given));
    });
    return answer;
}

class ProcessSink : public ::testing::Test {
protected:
    /// Of one function named `work`.
    Answer answer_of(Function function, Delivery delivery) {
        auto sink = Sink{services, {{"work", std::move(function)}}};
        return deliver(sink, std::move(delivery)).get();
    }

    std::unique_ptr<reactor::ProcessRunner> runner =
        std::move(reactor::ProcessRunner::create({.grace = milliseconds{50}})).value();
    reactor::testing::ManualScheduler timers;
    observe::NullDiagnostics diagnostics;
    Services services{*runner, timers, diagnostics};
};

TEST_F(ProcessSink, PassesInputAndResultAsJson) {
    auto input = Value::object({{"list", Value::list({1, "zwei", 3.5})}});

    auto answer = answer_of({.argv = {"cat"}}, call_of("work", input));

    EXPECT_TRUE(answer.is_success) << answer.error_message;
    EXPECT_EQ(answer.result, input);
}

TEST_F(ProcessSink, EndsTheInputWithALine) {
    auto answer = answer_of(shell("read line && echo \"$line\""), call_of("work", 7));

    EXPECT_EQ(answer.result, Value{7});
}

TEST_F(ProcessSink, PutsTheCallIntoTheEnvironment) {
    auto function = shell(
        R"(echo "\"$SLUICE_FUNCTION $SLUICE_TASK $SLUICE_ATTEMPT $SLUICE_TOKEN $COLOUR $(pwd)\"")");
    function.environment = {{"COLOUR", "red"}};
    function.directory = "/";

    auto answer = answer_of(std::move(function), call_of("work"));

    EXPECT_EQ(answer.result, Value{"work run/1/0 2 token red /"});
}

TEST_F(ProcessSink, GivesSecretsToTheCommandAndToNobodyElse) {
    auto secrets = secret::Secrets{{}, {{"SLUICE_SECRET_KEY", "s3cr3t!"}}};
    services.secrets = &secrets;
    auto function = shell("test \"$KEY\" = 'k s3cr3t!' && echo \"\\\"$KEY\\\"\"");
    function.environment = {{"KEY", "k ${secret:key}"}};

    auto answer = answer_of(function, call_of("work"));
    function.argv.back() = "echo $KEY >&2; exit 1";
    auto failed = answer_of(function, call_of("work"));

    EXPECT_EQ(answer.result, Value{"k ${secret:key}"});
    EXPECT_EQ(value::to_json(failed.error_detail).find("s3cr3t!"), std::string::npos);
    EXPECT_EQ(failed.error_message.find("s3cr3t!"), std::string::npos);
}

TEST_F(ProcessSink, FailsACallWhoseSecretIsNotThere) {
    auto secrets = secret::Secrets{};
    services.secrets = &secrets;
    auto function = shell("true");
    function.environment = {{"KEY", "${secret:key}"}};

    auto answer = answer_of(function, call_of("work"));

    EXPECT_EQ(answer.error_kind, "secret");
    EXPECT_NE(answer.error_message.find("there is no secret key"), std::string::npos);
}

TEST_F(ProcessSink, ReportsTheExitCodeAndErrors) {
    auto answer = answer_of(shell("echo oops >&2; exit 3"), call_of("work"));

    EXPECT_FALSE(answer.is_success);
    EXPECT_EQ(answer.error_kind, "exit");
    EXPECT_EQ(answer.error_message, "command /bin/sh exited with 3");
    EXPECT_EQ(*answer.error_detail.find("stderr"), Value{"oops\n"});
}

TEST_F(ProcessSink, ReportsACommandThatCannotStart) {
    auto answer = answer_of({.argv = {"/no/such/command"}}, call_of("work"));

    EXPECT_EQ(answer.error_kind, "spawn");
    EXPECT_EQ(answer.error_message, "cannot start '/no/such/command': no such program");
    EXPECT_EQ(answer_of({}, call_of("work")).error_kind, "spawn");
}

TEST_F(ProcessSink, NamesTheFunctionItDoesNotKnow) {
    auto answer = answer_of({.argv = {"true"}}, call_of("wrok"));

    EXPECT_EQ(answer.error_kind, "unknown_function");
    EXPECT_EQ(answer.error_message, "no function 'wrok' of kind process");
}

TEST_F(ProcessSink, TheCallsTimeoutCountsAndElseTheFunctions) {
    auto function = Function{.argv = {"sleep", "1000"}, .timeout = milliseconds{20}};
    auto hurried = call_of("work");
    hurried.timeout = milliseconds{10};

    auto by_function = answer_of(function, call_of("work"));
    auto by_call = answer_of(function, std::move(hurried));

    EXPECT_EQ(by_function.error_kind, "timeout");
    EXPECT_EQ(by_function.error_message, "command sleep was not done within 20ms");
    EXPECT_EQ(by_call.error_message, "command sleep was not done within 10ms");
}

TEST_F(ProcessSink, CancelEndsEveryCommandOfTheTokenAndNoOther) {
    auto sink =
        Sink{services, {{"sleep", {.argv = {"sleep", "1000"}}}, {"cat", {.argv = {"cat"}}}}};
    auto other = call_of("cat", "kept");
    other.token = "another";
    auto first = deliver(sink, call_of("sleep"));
    auto second = deliver(sink, call_of("sleep"));
    auto kept = deliver(sink, std::move(other));

    sink.cancel("token");

    EXPECT_EQ(first.get().error_kind, "cancelled");
    EXPECT_EQ(second.get().error_kind, "cancelled");
    EXPECT_EQ(kept.get().result, Value{"kept"});
    sink.cancel("token");
}

TEST_F(ProcessSink, DestroyedItCancelsWhatStillRuns) {
    auto sink = std::make_unique<Sink>(services, Functions{{"work", {.argv = {"sleep", "1000"}}}});
    auto answer = deliver(*sink, call_of("work"));

    sink.reset();

    EXPECT_EQ(answer.get().error_kind, "cancelled");
}

TEST_F(ProcessSink, RunsCommandsWithinTheirLimits) {
    auto function = shell("read line; ulimit -t");
    function.resources.cpu_time = std::chrono::seconds{7};

    EXPECT_EQ(answer_of(std::move(function), call_of("work")).result, Value{7});
}

TEST_F(ProcessSink, TalksToFunctionsWithAPool) {
    auto function = shell(R"(read line; echo "{\"id\":1,\"result\":\"talked\"}"; read line)");
    function.pool = Pool{};
    auto sink = Sink{services, {{"work", std::move(function)}}};

    EXPECT_EQ(deliver(sink, call_of("work")).get().result, Value{"talked"});
    auto left = deliver(sink, call_of("work"));
    sink.cancel("token");

    EXPECT_FALSE(left.get().is_success);
}

TEST_F(ProcessSink, AnswersEveryOneOfManyCalls) {
    auto sink = Sink{services, {{"work", {.argv = {"cat"}}}}};
    auto answers = std::vector<std::future<Answer>>{};
    for (auto number = 0; number < 60; number++) {
        auto delivery = call_of("work", number);
        delivery.token = std::to_string(number);
        answers.push_back(deliver(sink, std::move(delivery)));
    }
    for (auto number = 0; number < 60; number++) {
        EXPECT_EQ(answers[number].get().result, Value{number});
    }
}

} // namespace
} // namespace sluice::connector::process
