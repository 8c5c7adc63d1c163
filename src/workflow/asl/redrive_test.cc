#include <fmt/format.h>
#include <gmock/gmock.h>

#include "trigger/arrival.h"
#include "workflow/asl/testing/machine_run.h"

// Executions that ended without success and go on.
namespace sluice::workflow::asl {
namespace {

using ::testing::ElementsAre;

constexpr auto two_calls = R"({"StartAt": "A", "States": {
    "A": {"Type": "Pass", "Assign": {"kept": 1}, "Next": "B"},
    "B": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:f",
          "Retry": [{"ErrorEquals": ["Busy"], "IntervalSeconds": 1, "MaxAttempts": 1}],
          "ResultPath": "$.b", "Next": "C"},
    "C": {"Type": "Pass", "Parameters": {"b.$": "$.b", "kept.$": "$kept"}, "End": true}}})";

class Redrive : public testing::MachineRun {
protected:
    void redrive() {
        auto data = Value::object({{"status", to_string(state_.progress.status)}});
        decide(trigger::command_arrival(state_, trigger::types::run_reopened, data, moment_));
    }
};

TEST_F(Redrive, GoesOnAtTheStateThatFailed) {
    start(two_calls, R"({"x":7})");
    fail("B", "Down");
    EXPECT_THAT(end(), ::testing::HasSubstr("FAILED"));

    redrive();
    EXPECT_THAT(calls(), ElementsAre("B: f"));
    EXPECT_EQ(input_of("B"), R"({"x":7})");
    answer("B", 5);

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":{"b":5,"kept":1}})");
    EXPECT_THAT(events(), ::testing::Contains("ExecutionRedriven<8"));
}

TEST_F(Redrive, CountsAttemptsAnew) {
    start(two_calls);
    fail("B", "Busy");
    pass(std::chrono::seconds{1});
    fail("B", "Busy");
    redrive();
    fail("B", "Busy");
    pass(std::chrono::seconds{1});

    EXPECT_THAT(calls(), ElementsAre("B: f"));
}

TEST_F(Redrive, GoesOnAtTheStateThatWasStopped) {
    start(two_calls);
    decide(trigger::command_arrival(state_, trigger::types::run_terminate, Value::object({}),
                                    moment_));
    EXPECT_THAT(end(), ::testing::HasSubstr("ABORTED"));

    redrive();
    EXPECT_THAT(calls(), ElementsAre("B: f"));
    answer("B", 5);

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":{"b":5,"kept":1}})");
    EXPECT_THAT(events(), ::testing::Contains(::testing::StartsWith("ExecutionAborted")));
}

TEST_F(Redrive, FailsAgainAndIsRedrivenAgain) {
    start(two_calls);
    fail("B", "Down");
    redrive();
    fail("B", "Down");
    redrive();
    answer("B", 5);

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":{"b":5,"kept":1}})");
}

std::string task_named(std::string_view function, std::string_view more = "") {
    return fmt::format(
        R"({{"Type": "Task", "End": true, "Resource": "arn:aws:lambda:us-east-1:123456789012:function:{}"{}}})",
        function, more);
}

std::string branch_of(std::string_view name, std::string_view state) {
    return fmt::format(R"({{"StartAt": "{0}", "States": {{"{0}": {1}}}}})", name, state);
}

/// A machine of one state that may have more fields, and perhaps of another.
std::string three_branches(std::string_view fields = "", std::string_view states = "") {
    return fmt::format(
        R"({{"StartAt": "P", "States": {{{}"P": {{"Type": "Parallel", "End": true{}, "Branches": [{}, {}, {}]}}}}}})",
        states, fields, branch_of("A", task_named("a")), branch_of("B", task_named("b")),
        branch_of("C", task_named("c")));
}

TEST_F(Redrive, GoesOnInTheBranchesThatDidNotSucceed) {
    start(three_branches(), R"({"x":7})");
    answer("P/0/A", "a");
    fail("P/1/B", "Down");
    EXPECT_EQ(end(), R"({"status":"FAILED","error":"Down","cause":"it broke"})");

    redrive();
    EXPECT_THAT(calls(), ElementsAre("P/1/B: b", "P/2/C: c"));
    EXPECT_EQ(input_of("P/1/B"), R"({"x":7})");
    answer("P/1/B", "b");
    answer("P/2/C", "c");

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":["a","b","c"]})");
    EXPECT_TRUE(state_.scopes.empty());
}

TEST_F(Redrive, GoesOnInBranchesThatWereStopped) {
    start(three_branches());
    answer("P/1/B", "b");
    decide(trigger::command_arrival(state_, trigger::types::run_terminate, Value::object({}),
                                    moment_));

    redrive();
    EXPECT_THAT(calls(), ElementsAre("P/0/A: a", "P/2/C: c"));
    answer("P/0/A", "a");
    answer("P/2/C", "c");

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":["a","b","c"]})");
}

TEST_F(Redrive, GoesOnWithTheItemsThatDidNotSucceed) {
    start(R"({"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "MaxConcurrency": 1,
        "ItemProcessor": {"StartAt": "I", "States": {
            "I": {"Type": "Pass", "Assign": {"i.$": "$"}, "Next": "J"}, "J": )" +
              task_named("f", R"(, "Parameters": {"i.$": "$i"})") + "}}}}}",
          "[1,2,3]");
    answer("M/0/J", "a");
    fail("M/1/J", "Down");

    redrive();
    EXPECT_THAT(calls(), ElementsAre("M/1/J: f"));
    EXPECT_EQ(input_of("M/1/J"), R"({"i":2})");
    fail("M/1/J", "Down");
    redrive();
    answer("M/1/J", "b");
    answer("M/2/J", "c");

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":["a","b","c"]})");
}

TEST_F(Redrive, BeginsItemsThatHadNotBegun) {
    start(R"({"StartAt": "M", "States": {"M": {"Type": "Map", "End": true,
        "ItemProcessor": {"StartAt": "I", "States": {"I": {"Type": "Choice", "Default": "J",
            "Choices": [{"Variable": "$", "NumericEquals": 1, "Next": "F"}]},
            "F": {"Type": "Fail", "Error": "One"}, "J": )" +
              task_named("f") + "}}}}}",
          "[1,2,3]");
    EXPECT_THAT(end(), ::testing::HasSubstr("One"));
    EXPECT_THAT(calls(), ElementsAre());

    redrive();

    EXPECT_THAT(end(), ::testing::HasSubstr("One")) << "it fails again where it failed";
}

TEST_F(Redrive, GoesOnWithinWhatIsNested) {
    auto inner = R"({"Type": "Parallel", "End": true, "Branches": [)" +
                 branch_of("A", task_named("a")) + ", " + branch_of("B", task_named("b")) + "]}";
    start(R"({"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemProcessor": )" +
              branch_of("P", inner) + "}}}",
          "[1,2]");
    answer("M/0/P/0/A", "a0");
    answer("M/1/P/0/A", "a1");
    answer("M/1/P/1/B", "b1");
    fail("M/0/P/1/B", "Down");
    EXPECT_EQ(end(), R"({"status":"FAILED","error":"Down","cause":"it broke"})");

    redrive();
    EXPECT_THAT(calls(), ElementsAre("M/0/P/1/B: b"));
    answer("M/0/P/1/B", "b0");

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":[["a0","b0"],["a1","b1"]]})");
}

TEST_F(Redrive, CountsTheAttemptsOfWhatIsAround) {
    start(three_branches(R"(, "Retry": [{"ErrorEquals": ["Down"], "MaxAttempts": 1}])"));
    fail("P/0/A", "Down");
    pass(std::chrono::seconds{1});
    answer("P/1/B", "b");
    answer("P/2/C", "c");
    fail("P/0/A", "Down");
    EXPECT_THAT(end(), ::testing::HasSubstr("FAILED"));

    redrive();
    EXPECT_THAT(calls(), ElementsAre("P/0/A: a"));
    answer("P/0/A", "a");

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":["a","b","c"]})");
}

TEST_F(Redrive, KeepsNothingOfWhatWasCaught) {
    start(three_branches(R"(, "Catch": [{"ErrorEquals": ["Down"], "Next": "R"}])",
                         R"("R": {"Type": "Pass", "End": true}, )"));
    answer("P/0/A", "a");
    fail("P/1/B", "Down");

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":{"Error":"Down","Cause":"it broke"}})");
    EXPECT_TRUE(state_.scopes.empty());
}

} // namespace
} // namespace sluice::workflow::asl
