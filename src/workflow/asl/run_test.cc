#include <gmock/gmock.h>

#include "workflow/asl/testing/machine_run.h"

namespace sluice::workflow::asl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MachineRun;
using ::testing::SizeIs;

class StateMachine : public MachineRun {};

constexpr auto chain = R"~({"StartAt": "A", "States": {
    "A": {"Type": "Pass", "Result": {"n": 1}, "ResultPath": "$.a", "Next": "B"},
    "B": {"Type": "Pass", "Parameters": {"sum.$": "States.MathAdd($.a.n, 1)"}, "End": true}}})~";

TEST_F(StateMachine, GoesThroughStatesInOneDecision) {
    start(chain, R"({"x": 7})");

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":{"sum":2}})");
    EXPECT_EQ(state_.progress.fires, 1);
    EXPECT_THAT(events(),
                ElementsAre("ExecutionStarted<0", "PassStateEntered<0", "PassStateExited<2",
                            "PassStateEntered<3", "PassStateExited<4", "ExecutionSucceeded<5"));
}

constexpr auto task = R"({"StartAt": "Call", "States": {
    "Call": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:resize",
             "TimeoutSeconds": 10, "ResultPath": "$.answer", "Next": "Done",
             "Retry": [{"ErrorEquals": ["Busy"], "IntervalSeconds": 2, "MaxAttempts": 2},
                       {"ErrorEquals": ["States.ALL"], "MaxAttempts": 1}],
             "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Caught"}]},
    "Done": {"Type": "Succeed"},
    "Caught": {"Type": "Pass", "End": true}}})";

TEST_F(StateMachine, CallsAFunctionAndGoesOnWithItsAnswer) {
    start(task, R"({"x": 7})");
    EXPECT_THAT(calls(), ElementsAre("Call: resize"));
    EXPECT_EQ(input_of("Call"), R"({"x":7})");

    answer("Call", 42);

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":{"x":7,"answer":42}})");
    EXPECT_THAT(state_.timers, IsEmpty());
}

TEST_F(StateMachine, EachRetrierCountsForItself) {
    start(task);
    fail("Call", "Busy");
    EXPECT_THAT(calls(), IsEmpty());
    pass(std::chrono::seconds{2});
    fail("Call", "Other");
    pass(std::chrono::seconds{1});
    fail("Call", "Busy");
    pass(std::chrono::seconds{4});
    EXPECT_THAT(calls(), SizeIs(1));

    fail("Call", "Busy", "again");

    EXPECT_EQ(end(),
              R"({"status":"SUCCEEDED","output":{"error":{"Error":"Busy","Cause":"again"}}})");
}

TEST_F(StateMachine, TimesOutATask) {
    start(task);

    pass(std::chrono::seconds{10});
    pass(std::chrono::seconds{1});
    EXPECT_THAT(calls(), SizeIs(1));
    pass(std::chrono::seconds{10});

    EXPECT_EQ(end(),
              R"({"status":"SUCCEEDED","output":{"error":{"Error":"States.Timeout","Cause":""}}})");
}

constexpr auto swap = R"({"StartAt": "A", "QueryLanguage": "JSONata", "States": {
    "A": {"Type": "Pass", "Assign": {"x": 1, "y": 2}, "Next": "W"},
    "W": {"Type": "Wait", "Seconds": 60, "Next": "B"},
    "B": {"Type": "Pass", "Assign": {"x": "{% $y %}", "y": "{% $x %}"}, "Next": "C"},
    "C": {"Type": "Pass", "Output": "{% [$x, $y] %}", "End": true}}})";

TEST_F(StateMachine, KeepsVariablesWhileItWaits) {
    start(swap);
    EXPECT_EQ(end(), R"({"status":"RUNNING"})");

    pass(std::chrono::seconds{60});

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":[2,1]})");
}

constexpr auto branches = R"({"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true,
    "Retry": [{"ErrorEquals": ["Once"], "MaxAttempts": 1}],
    "Branches": [
        {"StartAt": "A", "States": {"A": {"Type": "Pass", "Result": "a", "End": true}}},
        {"StartAt": "B", "States": {"B": {"Type": "Task", "End": true,
            "Resource": "arn:aws:lambda:us-east-1:123456789012:function:f"}}},
        {"StartAt": "C", "States": {"C": {"Type": "Task", "End": true,
            "Resource": "arn:aws:lambda:us-east-1:123456789012:function:g"}}}]}}})";

TEST_F(StateMachine, JoinsBranchesInTheirOrder) {
    start(branches);
    EXPECT_THAT(calls(), ElementsAre("P/1/B: f", "P/2/C: g"));

    answer("P/2/C", "c");
    answer("P/1/B", "b");

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":["a","b","c"]})");
}

TEST_F(StateMachine, AFailingBranchTakesTheOthersDown) {
    start(branches);
    fail("P/1/B", "Once");
    EXPECT_THAT(calls(), IsEmpty());
    pass(std::chrono::seconds{1});
    EXPECT_THAT(calls(), ElementsAre("P/1/B: f", "P/2/C: g"));

    fail("P/2/C", "Twice");

    EXPECT_EQ(end(), R"({"status":"FAILED","error":"Twice","cause":"it broke"})");
    EXPECT_THAT(state_.tasks, IsEmpty());
}

std::string map_of(std::string_view state, std::string_view more) {
    return R"({"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, )" + std::string{more} +
           R"("ItemProcessor": {"StartAt": "I", "States": {"I": )" + std::string{state} + "}}}}}";
}

constexpr auto call_item =
    R"({"Type": "Task", "End": true, "Resource": "arn:aws:lambda:us-east-1:123456789012:function:f"})";

TEST_F(StateMachine, MapsItemsThatDoNotWaitWithoutAScope) {
    start(map_of(R"({"Type": "Pass", "End": true})",
                 R"("ItemSelector": {"i.$": "$$.Map.Item.Index", "v.$": "$$.Map.Item.Value"},)"),
          "[7,8]");

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":[{"i":0,"v":7},{"i":1,"v":8}]})");
    EXPECT_EQ(state_.progress.incarnations, 0);
}

TEST_F(StateMachine, MapsSoManyItemsAtATime) {
    start(map_of(call_item, R"("MaxConcurrency": 2,)"), "[1,2,3]");
    EXPECT_THAT(calls(), ElementsAre("M/0/I: f", "M/1/I: f"));

    answer("M/1/I", "b");
    EXPECT_THAT(calls(), ElementsAre("M/0/I: f", "M/2/I: f"));
    answer("M/2/I", "c");
    answer("M/0/I", "a");

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":["a","b","c"]})");
}

TEST_F(StateMachine, MapsMoreItemsThanASliceTakes) {
    auto input = std::string{"[0"};
    auto expected = std::string{"0"};
    for (auto at = 1; at < 5'000; ++at) {
        input += fmt::format(",{}", at);
        expected += fmt::format(",{}", at);
    }
    ASSERT_NO_FATAL_FAILURE(
        load(map_of(R"({"Type": "Pass", "End": true})", ""), {.is_express = true}));

    begin(input + "]");

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":[)" + expected + "]}");
    EXPECT_GT(state_.progress.events, 2);
}

TEST_F(StateMachine, EndsWhenItsHistoryIsFull) {
    start(R"({"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"},
        "B": {"Type": "Choice", "Choices": [{"Variable": "$.x", "IsPresent": true, "Next": "C"}],
              "Default": "A"}, "C": {"Type": "Succeed"}}})");

    EXPECT_THAT(end(), HasSubstr("maximum number of history events (25000)"));
    EXPECT_THAT(history_.events(), SizeIs(25'000));
    EXPECT_LT(journal_.record({}).size(), 100'000U);
}

TEST_F(StateMachine, EndsWhenRetriesFillItsHistory) {
    ASSERT_NO_FATAL_FAILURE(load(R"({"StartAt": "A", "States": {"A": {"Type": "Task", "End": true,
        "Resource": "arn:aws:lambda:us-east-1:123456789012:function:f",
        "Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1, "BackoffRate": 1,
                   "MaxAttempts": 99999999}]}}})",
                                 {.events_max = 1'000}));
    begin();

    while (!state_.is_over()) {
        fail("A", "Down");
        pass(std::chrono::seconds{1});
    }

    EXPECT_THAT(end(), HasSubstr("maximum number of history events (1000)"));
    EXPECT_THAT(history_.events(), SizeIs(1'000));
}

TEST_F(StateMachine, EndsWhenItemsFillItsHistory) {
    auto input = std::string{"[0"};
    for (auto at = 1; at < 10'000; ++at) {
        input += ",0";
    }
    start(map_of(R"({"Type": "Pass", "End": true})", ""), input + "]");

    EXPECT_THAT(end(), HasSubstr("maximum number of history events (25000)"));
    EXPECT_THAT(history_.events(), SizeIs(25'000));
    EXPECT_EQ(*history_.events().back().find("type"), Value{"ExecutionFailed"});
}

TEST_F(StateMachine, AnExpressMachineEndsAfterFiveMinutes) {
    ASSERT_NO_FATAL_FAILURE(load(R"({"StartAt": "W", "States": {
        "W": {"Type": "Wait", "Seconds": 3600, "End": true}}})",
                                 {.is_express = true}));
    begin();

    pass(std::chrono::minutes{5});

    EXPECT_EQ(end(), R"({"status":"TIMED_OUT","error":"States.Timeout"})");
}

TEST_F(StateMachine, AnItemThatFailsAbortsTheOthers) {
    start(map_of(call_item, ""), "[1,2,3]");

    answer("M/0/I", 1);
    fail("M/1/I", "Down");

    EXPECT_THAT(
        events(),
        ::testing::ElementsAreArray(
            {"ExecutionStarted<0",        "MapStateEntered<0",          "MapStateStarted<2",
             "MapIterationStarted<3",     "TaskStateEntered<4",         "LambdaFunctionScheduled<5",
             "LambdaFunctionStarted<6",   "MapIterationStarted<3",      "TaskStateEntered<8",
             "LambdaFunctionScheduled<9", "LambdaFunctionStarted<10",   "MapIterationStarted<3",
             "TaskStateEntered<12",       "LambdaFunctionScheduled<13", "LambdaFunctionStarted<14",
             "LambdaFunctionSucceeded<7", "TaskStateExited<16",         "MapIterationSucceeded<17",
             "LambdaFunctionFailed<11",   "MapIterationFailed<19",      "TaskStateAborted<15",
             "MapIterationAborted<21",    "MapStateFailed<19",          "ExecutionFailed<23"}));
}

TEST_F(StateMachine, WaitsForATaskToken) {
    start(R"({"StartAt": "Ask", "States": {"Ask": {"Type": "Task", "End": true,
        "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken", "HeartbeatSeconds": 5,
        "Parameters": {"FunctionName": "ask", "Payload": {"token.$": "$$.Task.Token"}}}}})");
    auto token = std::string{call_of("Ask").second.input.find("token")->as_string()};
    answer("Ask", "asked");
    pass(std::chrono::seconds{4});
    EXPECT_EQ(command("asl.heartbeat", Value::object({{"token", token}})), trigger::Fate::Handled);
    pass(std::chrono::seconds{4});
    EXPECT_EQ(command("asl.answer", Value::object({{"token", "x"}, {"output", 1}})),
              trigger::Fate::Failed);

    command("asl.answer", Value::object({{"token", token}, {"output", "yes"}}));

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":"yes"})");
    EXPECT_EQ(command("asl.answer", Value::object({{"token", token}, {"output", 1}})),
              trigger::Fate::Late);
}

TEST_F(StateMachine, SealsItsTokensWithAKey) {
    auto token_with = [&](std::string key) {
        state_ = {};
        journal_ = {};
        vocabulary_ = {};
        add_vocabulary(vocabulary_, std::move(key));
        start(R"({"StartAt": "Ask", "States": {"Ask": {"Type": "Task", "End": true,
            "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
            "Parameters": {"FunctionName": "ask", "Payload": {"token.$": "$$.Task.Token"}}}}})");
        return std::string{call_of("Ask").second.input.find("token")->as_string()};
    };

    auto one = token_with("one");

    EXPECT_EQ(token_with("one"), one);
    EXPECT_NE(token_with("other"), one);
    EXPECT_EQ(command("asl.answer", Value::object({{"token", one}, {"output", 1}})),
              trigger::Fate::Failed);
}

class LambdaInvoke : public MachineRun {};

TEST_F(LambdaInvoke, AnswersAsTheServiceDoes) {
    start(R"({"StartAt": "L", "States": {"L": {"Type": "Task", "End": true,
        "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f"}}}})");
    answer("L", Value::object({{"body", "string body"}}));

    auto output = *value::parse_json(end())->find("output");
    const auto& id = *output.find("SdkResponseMetadata")->find("RequestId");
    const auto& metadata = *output.find("SdkHttpMetadata");
    EXPECT_EQ(value::to_json(*output.find("Payload")), R"({"body":"string body"})");
    EXPECT_EQ(*output.find("ExecutedVersion"), Value{"$LATEST"});
    EXPECT_EQ(*output.find("StatusCode"), Value{200});
    EXPECT_EQ(*metadata.find("HttpStatusCode"), Value{200});
    EXPECT_EQ(*metadata.find("HttpHeaders")->find("Content-Length"), Value{"22"});
    EXPECT_EQ(*metadata.find("HttpHeaders")->find("Date"), Value{"Thu, 01 Jan 1970 00:00:00 GMT"});
    EXPECT_EQ(*metadata.find("AllHttpHeaders")->find("x-amzn-RequestId"), Value::list({id}));
    EXPECT_EQ(id.as_string().size(), 36U);
    EXPECT_THAT(std::string{metadata.find("HttpHeaders")->find("X-Amzn-Trace-Id")->as_string()},
                ::testing::MatchesRegex("Root=1-00000000-[0-9a-f]{24}"));
}

class NestedExecutions : public MachineRun {
protected:
    void begin_with(std::string_view pattern) {
        start(R"({"StartAt": "S", "States": {"S": {"Type": "Task", "End": true,
            "Resource": "arn:aws:states:::states:startExecution)" +
              std::string{pattern} + R"(", "Parameters": {"Name": "n",
            "StateMachineArn": "arn:aws:states:us-east-1:1:stateMachine:child:3",
            "Input": {"x": 1}}}}})");
    }
    void end_child(std::string_view type, const Value& data) {
        decide(trigger::child_arrival(state_, call_of("S").first, 1, type, data, moment_));
    }
    Value output() { return *value::parse_json(end())->find("output"); }
};

TEST_F(NestedExecutions, AreStartedAndLeftAlone) {
    begin_with("");
    EXPECT_THAT(calls(), ElementsAre("S: states:startExecution"));
    EXPECT_EQ(input_of("S"),
              R"({"machine":"child","name":"n","input":{"x":1},"target":"child:3"})");

    answer("S", Value::object({{"machine", "child"}, {"name", "n"}, {"started", Value{Time{}}}}));

    EXPECT_EQ(value::to_json(output()),
              R"({"ExecutionArn":"arn:aws:states:us-east-1:123456789012:execution:child:n",)"
              R"("StartDate":0})");
}

TEST_F(NestedExecutions, AreDescribedAtTheirEnd) {
    begin_with(".sync");
    EXPECT_EQ(call_of("S").second.child, "child:n");
    EXPECT_EQ(call_of("S").second.target, "child:3") << "the version that is to be started";
    EXPECT_THAT(events(), ::testing::Contains("TaskSubmitted<4"));

    end_child(trigger::types::run_succeeded, Value::object({{"result", Value::list({7})}}));

    EXPECT_EQ(*output().find("Output"), Value{"[7]"});
    EXPECT_EQ(*output().find("Input"), Value{R"({"x":1})"});
    EXPECT_EQ(*output().find("Status"), Value{"SUCCEEDED"});
    EXPECT_EQ(*output().find("StateMachineArn"),
              Value{"arn:aws:states:us-east-1:123456789012:stateMachine:child"});
}

TEST_F(NestedExecutions, GiveTheirOutputAsAValue) {
    begin_with(".sync:2");

    end_child(trigger::types::run_succeeded, Value::object({{"result", Value::list({7})}}));

    EXPECT_EQ(*output().find("Output"), Value::list({7}));
}

TEST_F(NestedExecutions, FailWithTheirDescriptionAsTheCause) {
    begin_with(".sync:2");

    end_child(trigger::types::run_failed,
              *value::parse_json(R"({"error": {"kind": "Oops", "message": "no", "error": "Oops",
                                               "cause": "no"}})"));

    auto ended = *value::parse_json(end());
    EXPECT_EQ(*ended.find("error"), Value{"States.TaskFailed"});
    auto cause = *value::parse_json(ended.find("cause")->as_string());
    EXPECT_EQ(*cause.find("Error"), Value{"Oops"});
    EXPECT_EQ(*cause.find("Cause"), Value{"no"});
    EXPECT_EQ(*cause.find("Status"), Value{"FAILED"});
    EXPECT_EQ(*cause.find("Name"), Value{"n"});
}

TEST_F(NestedExecutions, MessagesAnswerAsTheServices) {
    start(R"({"StartAt": "Q", "States": {
        "Q": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "ResultPath": "$.q",
              "Parameters": {"QueueUrl": "https://sqs/1/orders", "MessageBody": "hi"}, "Next": "E"},
        "E": {"Type": "Task", "Resource": "arn:aws:states:::events:putEvents", "ResultPath": "$.e",
              "Parameters": {"Entries": [{"Detail": {}, "DetailType": "t", "Source": "s"}]},
              "End": true}}})");

    EXPECT_EQ(*output().find("q")->find("MD5OfMessageBody"),
              Value{"49f68a5c8493ec2c0bf489821c21fc3b"});
    EXPECT_EQ(output().find("e")->find("Entries")->size(), 1U);
    EXPECT_EQ(*output().find("e")->find("FailedEntryCount"), Value{0});
}

TEST_F(StateMachine, ADisabledStateWaitsUntilItIsEnabled) {
    ASSERT_NO_FATAL_FAILURE(load(swap));
    begin();
    command("disable", Value::object({{"trigger", "B"}}));
    pass(std::chrono::seconds{60});
    EXPECT_EQ(end(), R"({"status":"RUNNING"})");

    command("enable", Value::object({{"trigger", "B"}}));

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":[2,1]})");
}

TEST_F(StateMachine, NestsDeeply) {
    auto inner = std::string{call_item};
    auto state = R"({"StartAt": "T", "States": {"T": )" + inner + "}}";
    for (auto level = 0; level < 100; ++level) {
        state = fmt::format(
            R"({{"StartAt": "a long name of level {0}", "States": {{"a long name of level {0}": )"
            R"({{"Type": "Parallel", "End": true, "Branches": [{1}]}}}}}})",
            level, state);
    }
    start(state);
    ASSERT_THAT(state_.tasks, SizeIs(1));

    answer(place_of(state_.tasks.begin()->second), 1);

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":)" + std::string(100, '[') + "1" +
                         std::string(100, ']') + "}");
}

} // namespace
} // namespace sluice::workflow::asl
