#include "workflow/asl/test_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "value/json.h"

namespace sluice::workflow::asl {
namespace {

using ::testing::HasSubstr;

Value parsed_json(std::string_view text) {
    return value::parse_json(text).value();
}

StateTest test_of(std::string_view definition, std::string_view input = "{}") {
    return {.definition = parsed_json(definition),
            .state = {},
            .input = parsed_json(input),
            .failing_state = {},
            .role = {}};
}

StateTest mocked_by(StateTest test, std::string_view result) {
    test.mock = TestMock{.outcome = parsed_json(result)};
    return test;
}

StateTest failing_by(StateTest test, std::string error, std::string cause = "why") {
    test.mock = TestMock{.outcome = TestMock::Error{std::move(error), std::move(cause)}};
    return test;
}

StateTestOutcome outcome_of(const StateTest& test) {
    auto outcome = test_state(test);
    if (!outcome) {
        ADD_FAILURE() << outcome.error().type << ": " << outcome.error().message;
        return {};
    }
    return std::get<StateTestOutcome>(*std::move(outcome));
}

std::string refusal_of(const StateTest& test) {
    auto outcome = test_state(test);
    return outcome ? "" : outcome.error().type + ": " + outcome.error().message;
}

std::string seen_at(const StateTestOutcome& outcome, std::string_view name) {
    const auto* found = outcome.inspection.find(name);
    return found == nullptr ? "(nothing)" : value::to_json(*found);
}

constexpr auto lambda_task = R"({"Type":"Task","Resource":"arn:aws:states:::lambda:invoke",
    "InputPath":"$.in","Parameters":{"FunctionName":"f","Payload.$":"$.n"},
    "ResultSelector":{"got.$":"$.Payload"},"ResultPath":"$.out","OutputPath":"$.out",
    "Retry":[{"ErrorEquals":["Busy"],"IntervalSeconds":2,"MaxAttempts":2}],
    "Catch":[{"ErrorEquals":["States.ALL"],"ResultPath":"$.error","Next":"Mend"}],"Next":"Done"})";

TEST(TestState, ShowsWhatEachFieldMakesOfATask) {
    auto outcome =
        outcome_of(mocked_by(test_of(lambda_task, R"({"in":{"n":1}})"), R"({"Payload":5})"));

    EXPECT_EQ(outcome.status, "SUCCEEDED");
    EXPECT_EQ(outcome.next_state, "Done");
    EXPECT_EQ(value::to_json(*outcome.output), R"({"got":5})");
    EXPECT_EQ(seen_at(outcome, "afterInputPath"), R"({"n":1})");
    EXPECT_EQ(seen_at(outcome, "afterParameters"), R"({"FunctionName":"f","Payload":1})");
    EXPECT_EQ(seen_at(outcome, "result"), R"({"Payload":5})");
    EXPECT_EQ(seen_at(outcome, "afterResultSelector"), R"({"got":5})");
    EXPECT_EQ(seen_at(outcome, "afterResultPath"), R"({"in":{"n":1},"out":{"got":5}})");
}

TEST(TestState, TellsARetryUntilItsAttemptsAreUsedUp) {
    auto test = failing_by(test_of(lambda_task, R"({"in":{"n":1}})"), "Busy");
    test.retries = 1;
    auto again = outcome_of(test);
    test.retries = 2;
    auto caught = outcome_of(test);

    EXPECT_EQ(again.status, "RETRIABLE");
    EXPECT_EQ(seen_at(again, "errorDetails"),
              R"({"retryIndex":0,"retryBackoffIntervalSeconds":4})");
    EXPECT_EQ(again.next_state, "");
    EXPECT_EQ(caught.status, "CAUGHT_ERROR");
    EXPECT_EQ(caught.next_state, "Mend");
    EXPECT_EQ(value::to_json(*caught.output),
              R"({"in":{"n":1},"error":{"Error":"Busy","Cause":"why"}})");
}

TEST(TestState, AsksForACallThatIsNotMocked) {
    auto outcome = test_state(test_of(lambda_task, R"({"in":{"n":1}})"));

    ASSERT_TRUE(outcome);
    const auto& call = std::get<NeededCall>(*outcome);
    EXPECT_EQ(call.resource, "arn:aws:states:::lambda:invoke");
    EXPECT_EQ(value::to_json(call.arguments), R"({"FunctionName":"f","Payload":1})");
}

TEST(TestState, GoesThroughStatesThatNeedNobody) {
    auto choice = outcome_of(test_of(
        R"({"Type":"Choice","Choices":[{"Variable":"$.n","NumericEquals":1,"Next":"One"}],
            "Default":"Other"})",
        R"({"n":2})"));
    EXPECT_EQ(choice.next_state, "Other");
    auto wait = outcome_of(test_of(R"({"Type":"Wait","Seconds":99999,"End":true})", "7"));
    EXPECT_EQ(wait.status, "SUCCEEDED");
    auto fail = outcome_of(test_of(R"({"Type":"Fail","Error":"E"})"));
    EXPECT_EQ(fail.status, "FAILED");
    EXPECT_EQ(fail.error, "E");
    EXPECT_EQ(fail.cause, std::nullopt);
    auto pass =
        outcome_of(test_of(R"({"Type":"Pass","Assign":{"a.$":"$.n"},"End":true})", R"({"n":3})"));
    EXPECT_EQ(seen_at(pass, "variables"), R"({"a":3})");
}

TEST(TestState, FindsAStateHoweverDeep) {
    auto test = test_of(R"({"StartAt":"M","States":{"M":{"Type":"Map","End":true,"ItemProcessor":{
        "StartAt":"Inner","States":{"Inner":{"Type":"Pass","End":true}}}}}})");
    test.state = "Inner";
    EXPECT_EQ(outcome_of(test).status, "SUCCEEDED");
    test.state = "None";
    EXPECT_EQ(refusal_of(test), "ValidationException: State not found in definition");
}

constexpr auto item_map = R"({"Type":"Map","ItemsPath":"$.all","MaxConcurrency":3,
    "ItemSelector":{"i.$":"$$.Map.Item.Index","v.$":"$$.Map.Item.Value"},
    "ToleratedFailurePercentage":50,"Catch":[{"ErrorEquals":["States.ExceedToleratedFailureThreshold"],
    "Next":"Mend"}],"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},
    "StartAt":"A","States":{"A":{"Type":"Pass","End":true}}},"End":true})";

TEST(TestState, ShowsTheItemsOfAMap) {
    auto outcome = outcome_of(mocked_by(test_of(item_map, R"({"all":["x","y"]})"), "[1,2]"));

    EXPECT_EQ(outcome.status, "SUCCEEDED");
    EXPECT_EQ(seen_at(outcome, "afterItemsPath"), R"(["x","y"])");
    EXPECT_EQ(seen_at(outcome, "afterItemSelector"), R"([{"i":0,"v":"x"},{"i":1,"v":"y"}])");
    EXPECT_EQ(seen_at(outcome, "maxConcurrency"), "3");
    EXPECT_EQ(seen_at(outcome, "result"), "(nothing)");
}

TEST(TestState, HoldsFailedIterationsToWhatAMapTolerates) {
    auto test = mocked_by(test_of(item_map, R"({"all":["x","y"]})"), "[1,2]");
    test.failed_iterations = 1;
    EXPECT_EQ(outcome_of(test).status, "SUCCEEDED");
    test.failed_iterations = 2;
    EXPECT_EQ(outcome_of(test).next_state, "Mend");
    test.failed_iterations = 3;
    EXPECT_THAT(refusal_of(test), HasSubstr("Map iteration failure count"));
}

TEST(TestState, RefusesMocksThatFitNoState) {
    EXPECT_THAT(refusal_of(mocked_by(test_of(R"({"Type":"Pass","End":true})"), "1")),
                HasSubstr("State type 'Pass' is not supported when a mock is specified"));
    EXPECT_THAT(refusal_of(test_of(item_map)),
                HasSubstr("InvalidDefinition: TestState API does not"));
    EXPECT_THAT(refusal_of(mocked_by(test_of(item_map), "{}")), HasSubstr("must be an array"));
    constexpr auto parallel = R"({"Type":"Parallel","End":true,"Branches":[
        {"StartAt":"A","States":{"A":{"Type":"Pass","End":true}}}]})";
    EXPECT_THAT(refusal_of(mocked_by(test_of(parallel), "[1,2]")),
                HasSubstr("same number of items"));
    auto test = failing_by(test_of(parallel), "E");
    test.failing_state = "Elsewhere";
    EXPECT_THAT(refusal_of(test), HasSubstr("'Elsewhere' is not inside"));
    EXPECT_THAT(refusal_of(test_of(R"({"Type":"Nap"})")), HasSubstr("InvalidDefinition"));
}

TEST(TestState, HoldsAMockToWhatTheApiAnswers) {
    auto sdk = [](std::string_view resource, std::string_view result) {
        auto definition = Value::object({{"Type", "Task"},
                                         {"Resource", "arn:aws:states:::" + std::string{resource}},
                                         {"End", true}});
        return mocked_by({.definition = definition,
                          .state = {},
                          .input = Value::object({}),
                          .failing_state = {},
                          .role = {}},
                         result);
    };
    EXPECT_THAT(refusal_of(sdk("states:startExecution", R"({"StartDate":"x"})")),
                HasSubstr("Required field 'ExecutionArn' is missing"));
    EXPECT_THAT(refusal_of(sdk("sns:publish", R"({"MessageId":7})")),
                HasSubstr("Field 'MessageId' must be a string"));
    EXPECT_THAT(refusal_of(sdk("aws-sdk:s3:listObjectsV2", R"({"Contents":[{"Key":""}]})")),
                HasSubstr("Field 'Key' is smaller than the minimum length"));
    auto present = sdk("states:startExecution", R"({"StartDate":"x"})");
    present.mock->validation = TestMock::Validation::Present;
    EXPECT_EQ(refusal_of(present), "");
    auto none = sdk("sns:publish", R"({"MessageId":7})");
    none.mock->validation = TestMock::Validation::None;
    EXPECT_EQ(refusal_of(none), "");
}

TEST(TestState, TakesAContextObjectOfTheRightForm) {
    auto test = test_of(R"({"Type":"Pass","Parameters":{"n.$":"$$.Execution.Name"},"End":true})");
    test.context = parsed_json(R"({"Execution":{"Name":"mine"}})");
    EXPECT_EQ(value::to_json(*outcome_of(test).output), R"({"n":"mine"})");
    for (const auto& [context, fault] :
         {std::pair{R"({"Execution":{"Name":1}})", "Execution.Name must be a string"},
          std::pair{R"({"State":{"X":1}})", "Field 'X' is not allowed"},
          std::pair{R"({"Map":{}})", "'Map' field is not supported"},
          std::pair{R"({"Task":{"Token":"t"}})", "Context object contains 'Task'"}}) {
        test.context = parsed_json(context);
        EXPECT_THAT(refusal_of(test), HasSubstr(fault));
    }
}

} // namespace
} // namespace sluice::workflow::asl
