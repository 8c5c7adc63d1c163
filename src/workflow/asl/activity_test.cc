#include <gmock/gmock.h>

#include "workflow/asl/resource_names.h"
#include "workflow/asl/testing/machine_run.h"

// Tasks of activities, which workers take up when they please.
namespace sluice::workflow::asl {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr auto dig = R"({"StartAt": "Dig", "States": {
    "Dig": {"Type": "Task", "Resource": "arn:aws:states:us-east-1:123456789012:activity:dig",
            "TimeoutSeconds": 60, "HeartbeatSeconds": 10, "End": true}}})";

class Activity : public testing::MachineRun {
protected:
    trigger::Fate say(std::string_view action, Value params) {
        auto key = call_of("Dig").first;
        auto task = Value::object({{"fire", static_cast<std::int64_t>(key.fire.raw())},
                                   {"index", static_cast<std::int64_t>(key.index)}});
        return command(std::string{action}, params.with("task", std::move(task)));
    }
};

TEST_F(Activity, TellsWhichWorkerTookItsTask) {
    start(dig);
    EXPECT_THAT(events(), Not(Contains(StartsWith("ActivityStarted"))));

    say(begin_action, Value::object({{"worker", "digger"}}));
    EXPECT_EQ(value::to_json(*history_.events().back().find("details")),
              R"({"workerName":"digger"})");
    answer("Dig", "gold");

    EXPECT_EQ(end(), R"({"status":"SUCCEEDED","output":"gold"})");
    EXPECT_THAT(events(),
                ElementsAre("ExecutionStarted<0", "TaskStateEntered<0", "ActivityScheduled<2",
                            "ActivityStarted<3", "ActivitySucceeded<4", "TaskStateExited<5",
                            "ExecutionSucceeded<6"));
}

TEST_F(Activity, IsBegunByAnAnswerAtTheLatest) {
    start(dig);

    answer("Dig", "gold");

    EXPECT_THAT(events(), Contains("ActivityStarted<3"));
}

TEST_F(Activity, TimesOutWhenNoWorkerCame) {
    start(dig);

    pass(std::chrono::seconds{10});

    EXPECT_THAT(end(), HasSubstr("States.Timeout"));
    EXPECT_THAT(events(),
                ElementsAre("ExecutionStarted<0", "TaskStateEntered<0", "ActivityScheduled<2",
                            "ActivityTimedOut<3", "ExecutionFailed<4"));
}

TEST_F(Activity, HeartbeatsKeepTheTask) {
    start(dig);
    pass(std::chrono::seconds{8});
    say(begin_action, Value::object({{"worker", "digger"}}));
    pass(std::chrono::seconds{8});
    say(heartbeat_action, Value::object({}));
    pass(std::chrono::seconds{8});
    EXPECT_THAT(calls(), ElementsAre("Dig: activity:dig"));

    pass(std::chrono::seconds{2});

    EXPECT_THAT(end(), HasSubstr("States.Timeout"));
}

TEST_F(Activity, ThatIsNotThereIsAFinalError) {
    start(dig);

    fail("Dig", "unknown_function");

    EXPECT_EQ(end(),
              R"({"status":"FAILED","error":"States.Runtime","cause":"An error occurred while )"
              R"(executing the state 'Dig' (entered at the event id #2). The activity )"
              R"(arn:aws:states:us-east-1:123456789012:activity:dig does not exist."})");
}

TEST_F(Activity, NobodyIsToldOfATaskThatIsOver) {
    start(dig);
    auto key = call_of("Dig").first;
    answer("Dig", "gold");

    auto fate = command(
        std::string{begin_action},
        Value::object({{"worker", "digger"},
                       {"task", Value::object({{"fire", static_cast<std::int64_t>(key.fire.raw())},
                                               {"index", 0}})}}));

    EXPECT_NE(fate, trigger::Fate::Handled);
}

} // namespace
} // namespace sluice::workflow::asl
