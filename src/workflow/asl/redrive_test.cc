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

} // namespace
} // namespace sluice::workflow::asl
