#include "workflow/asl/read.h"

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "value/json.h"
#include "workflow/asl/check.h"
#include "workflow/asl/testing/definitions.h"

namespace sluice::workflow::asl {
namespace {

using testing::form_of;
using testing::machine_of;
using testing::machine_with;

const State& state_of(const Machine& machine, const std::string& name) {
    return machine.states[machine.by_name.at(name)];
}

const TaskState& task_of(const Machine& machine) {
    return std::get<TaskState>(machine.states[0].details);
}

std::shared_ptr<const Machine> task_machine(std::string_view resource) {
    return machine_with(
        fmt::format(R"({{"Type": "Task", "Resource": "{}", "End": true}})", resource));
}

TEST(AslRead, NumbersStatesInTheOrderOfTheText) {
    auto machine =
        machine_of(R"({"Comment": "two", "TimeoutSeconds": 30, "StartAt": "b", "States": {
        "a": {"Type": "Succeed"}, "b": {"Type": "Pass", "Next": "a"}}})");

    EXPECT_EQ(machine->comment, "two");
    EXPECT_EQ(machine->timeout_seconds, 30U);
    EXPECT_EQ(machine->states[0].name, "a");
    EXPECT_EQ(machine->flows[0].start, 1U);
    EXPECT_EQ(machine->states[1].next, 0U);
    EXPECT_FALSE(machine->states[0].next);
}

TEST(AslRead, ReadsTheDataFlowOfAState) {
    auto machine = machine_with(R"({"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke",
        "InputPath": null, "OutputPath": "$.out", "ResultPath": "$.place",
        "Parameters": {"a.$": "$.b"}, "ResultSelector": {"c": 1}, "Assign": {"x.$": "$.d"},
        "TimeoutSecondsPath": "$.t", "HeartbeatSeconds": 5, "End": true})");

    const auto& state = machine->states[0];
    EXPECT_TRUE(state.input_path.is_null);
    EXPECT_EQ(state.output_path.path->text(), "$.out");
    EXPECT_EQ(state.result_path.place->text(), "$.place");
    EXPECT_FALSE(state.parameters->is_constant());
    EXPECT_TRUE(state.result_selector->is_constant());
    EXPECT_TRUE(state.assign);
    EXPECT_EQ(std::get<Selector>(task_of(*machine).timeout_seconds.source).text(), "$.t");
    EXPECT_EQ(std::get<std::int64_t>(task_of(*machine).heartbeat_seconds.source), 5);
}

TEST(AslRead, ReadsWhatAStateInJsonataComputes) {
    auto machine = machine_with(R"({"Type": "Task", "QueryLanguage": "JSONata",
        "Resource": "arn:aws:states:::lambda:invoke", "Arguments": {"a": "{% $states.input.b %}"},
        "Output": "{% $states.result %}", "Assign": {"x": "{% $states.result.c %}"},
        "TimeoutSeconds": "{% $states.input.t %}", "End": true})");

    const auto& state = machine->states[0];
    EXPECT_EQ(state.language, Language::Jsonata);
    EXPECT_TRUE(state.parameters);
    EXPECT_TRUE(state.output);
    EXPECT_TRUE(state.assign);
    EXPECT_TRUE(std::holds_alternative<Template>(task_of(*machine).timeout_seconds.source));
}

TEST(AslRead, TakesResultPathNullAsNowhereAndDollarAsEverything) {
    auto nowhere = machine_with(R"({"Type": "Pass", "ResultPath": null, "End": true})");
    auto everything = machine_with(R"({"Type": "Pass", "ResultPath": "$", "End": true})");

    EXPECT_TRUE(nowhere->states[0].result_path.is_discarded);
    EXPECT_FALSE(everything->states[0].result_path.is_discarded);
    EXPECT_FALSE(everything->states[0].result_path.place);
}

TEST(AslRead, ReadsRetriersAndCatchers) {
    auto machine = machine_of(R"({"StartAt": "t", "States": {
        "t": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "End": true,
              "Retry": [{"ErrorEquals": ["A"], "IntervalSeconds": 2, "MaxAttempts": 0,
                         "BackoffRate": 1.5, "MaxDelaySeconds": 9, "JitterStrategy": "FULL"},
                        {"ErrorEquals": ["States.ALL"]}],
              "Catch": [{"ErrorEquals": ["B", "C"], "Next": "f", "ResultPath": "$.e"}]},
        "f": {"Type": "Fail"}}})");

    const auto& state = state_of(*machine, "t");
    EXPECT_EQ(state.retry[0].interval_seconds, 2U);
    EXPECT_EQ(state.retry[0].attempts_max, 0U);
    EXPECT_EQ(state.retry[0].backoff_rate, 1.5);
    EXPECT_EQ(state.retry[0].delay_seconds_max, 9U);
    EXPECT_TRUE(state.retry[0].has_full_jitter);
    EXPECT_EQ(state.retry[1].attempts_max, 3U);
    EXPECT_EQ(state.catches[0].errors, (std::vector<std::string>{"B", "C"}));
    EXPECT_EQ(state.catches[0].next, machine->by_name.at("f"));
    EXPECT_EQ(state.catches[0].result_path.place->text(), "$.e");
}

TEST(AslRead, ReadsTheRulesOfAChoice) {
    auto machine = machine_of(R"({"StartAt": "c", "States": {
        "c": {"Type": "Choice", "Default": "z", "Choices": [
            {"Variable": "$.x", "NumericEquals": 1, "Next": "y", "Assign": {"n": 1}}]},
        "y": {"Type": "Succeed"}, "z": {"Type": "Succeed"}}})");

    const auto& choice = std::get<ChoiceState>(state_of(*machine, "c").details);
    ASSERT_EQ(choice.rules.size(), 1U);
    EXPECT_EQ(choice.rules[0].next, machine->by_name.at("y"));
    EXPECT_TRUE(choice.rules[0].assign);
    EXPECT_EQ(choice.otherwise, machine->by_name.at("z"));
}

TEST(AslRead, ReadsNestedFlowsWithTheirOwners) {
    auto machine = machine_of(R"({"StartAt": "p", "States": {"p": {"Type": "Parallel", "End": true,
        "Branches": [
            {"StartAt": "a", "States": {"a": {"Type": "Succeed"}}},
            {"StartAt": "m", "States": {"m": {"Type": "Map", "End": true, "MaxConcurrency": 3,
                "Iterator": {"StartAt": "i", "States": {"i": {"Type": "Pass", "End": true}}},
                "Parameters": {"v.$": "$$.Map.Item.Value"}}}}]}}})");

    const auto& parallel = std::get<ParallelState>(state_of(*machine, "p").details);
    const auto& map = std::get<MapState>(state_of(*machine, "m").details);
    ASSERT_EQ(machine->flows.size(), 4U);
    EXPECT_EQ(machine->flows[parallel.branches[1]].owner, machine->by_name.at("p"));
    EXPECT_EQ(machine->flows[map.processor].owner, machine->by_name.at("m"));
    EXPECT_EQ(machine->flows[map.processor].start, machine->by_name.at("i"));
    EXPECT_EQ(state_of(*machine, "i").flow, map.processor);
    EXPECT_TRUE(map.item_selector);
    EXPECT_FALSE(state_of(*machine, "m").parameters);
}

TEST(AslRead, ReadsADistributedMap) {
    auto machine = machine_with(R"({"Type": "Map", "End": true, "Label": "rows",
        "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "EXPRESS"},
            "StartAt": "i", "States": {"i": {"Type": "Pass", "End": true}}},
        "ItemReader": {"Resource": "arn:aws:states:::s3:getObject",
            "Parameters": {"Bucket": "b", "Key.$": "$.key"},
            "ReaderConfig": {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW", "MaxItems": 7}},
        "ItemBatcher": {"MaxItemsPerBatch": 10, "BatchInput": {"x": 1}},
        "ToleratedFailurePercentage": 12.5,
        "ResultWriter": {"Resource": "arn:aws:states:::s3:putObject",
            "Parameters": {"Bucket": "b", "Prefix": "p"},
            "WriterConfig": {"Transformation": "COMPACT", "OutputType": "JSONL"}}})");

    const auto& map = std::get<MapState>(machine->states[0].details);
    EXPECT_TRUE(map.is_distributed);
    EXPECT_TRUE(map.is_express);
    EXPECT_EQ(map.label, "rows");
    EXPECT_EQ(std::get<std::int64_t>(map.reader->items_max.source), 7);
    EXPECT_EQ(std::get<std::int64_t>(map.batcher->items_max.source), 10);
    EXPECT_EQ(std::get<double>(map.tolerated_percentage.source), 12.5);
    EXPECT_EQ(*map.writer->config.find("OutputType"), Value{"JSONL"});
}

TEST(AslRead, TakesTheLanguageOfTheMachineInNestedStates) {
    auto machine = machine_of(R"({"StartAt": "p", "States": {"p": {"Type": "Parallel",
        "QueryLanguage": "JSONata", "End": true, "Branches": [
            {"StartAt": "a", "States": {"a": {"Type": "Pass", "End": true}}}]}}})");

    EXPECT_EQ(state_of(*machine, "p").language, Language::Jsonata);
    EXPECT_EQ(state_of(*machine, "a").language, Language::JsonPath);
}

struct ResourceCase {
    std::string_view text;
    std::string_view service;
    std::string_view action;
    std::string_view target;
    Pattern pattern = Pattern::RequestResponse;
};

TEST(AslRead, SplitsResources) {
    constexpr auto cases = std::to_array<ResourceCase>({
        {"arn:aws:lambda:us-east-1:123456789012:function:resize", "lambda", "function", "resize"},
        {"arn:aws:lambda:us-east-1:123456789012:function:resize:live", "lambda", "function",
         "resize"},
        {"arn:aws:lambda:us-east-1:123456789012:function:resize:$LATEST", "lambda", "function",
         "resize"},
        {"${ResizeFunctionArn}", "lambda", "function", "ResizeFunctionArn"},
        {"arn:aws:lambda:${AWS::Region}:1:function:resize", "lambda", "function", "resize"},
        {"https://example.com/resize", "lambda", "function", "https://example.com/resize"},
        {"arn:aws:swf:us-east-1:123456789012:task:paint", "lambda", "function", "paint"},
        {"arn:aws:states:us-east-1:123456789012:activity:paint", "activity", "", "paint"},
        {"paint", "activity", "", "paint"},
        {"arn:aws:states:::lambda:invoke", "lambda", "invoke", ""},
        {"arn:aws-cn:states:::sqs:sendMessage.waitForTaskToken", "sqs", "sendMessage", "",
         Pattern::WaitForTaskToken},
        {"arn:aws:states:::states:startExecution.sync", "states", "startExecution", "",
         Pattern::Sync},
        {"arn:aws:states:::states:startExecution.sync:2", "states", "startExecution", "",
         Pattern::Sync2},
        {"arn:aws:states:::aws-sdk:s3:getObject", "aws-sdk:s3", "getObject", ""},
        {"arn:aws:states:us-east-1:1:aws-sdk:s3:listBuckets.waitForTaskToken", "aws-sdk:s3",
         "listBuckets", "", Pattern::WaitForTaskToken},
    });
    for (const auto& [text, service, action, target, pattern] : cases) {
        auto machine = task_machine(text);

        const auto& task = task_of(*machine);
        EXPECT_EQ(task.resource, text);
        EXPECT_EQ(task.service, service) << text;
        EXPECT_EQ(task.action, action) << text;
        EXPECT_EQ(task.target, target) << text;
        EXPECT_EQ(task.pattern, pattern) << text;
    }
}

TEST(AslRead, TakesWhatCloudFormationPutsInForItsName) {
    auto machine = machine_with(
        R"({"Type": "Task", "Resource": {"Fn::GetAtt": ["Resize", "Arn"]}, "End": true})");

    EXPECT_EQ(task_of(*machine).service, "lambda");
    EXPECT_EQ(task_of(*machine).target, "Resize");
}

TEST(AslRead, ReadsOneStateWhoseTargetsAreNotThere) {
    auto machine = read(form_of(R"({"Type": "Choice", "Default": "z", "Choices": [
        {"Variable": "$.x", "IsNull": true, "Next": "y"}]})"),
                        {.is_single_state = true});

    ASSERT_TRUE(machine);
    const auto& choice = std::get<ChoiceState>((*machine)->states[0].details);
    EXPECT_EQ((*machine)->states[choice.rules[0].next].name, "y");
    EXPECT_EQ((*machine)->states[*choice.otherwise].name, "z");
}

TEST(AslRead, RefusesUnknownTargetsInsideAStateOfItsOwn) {
    auto machine = read(form_of(R"({"Type": "Parallel", "Next": "anywhere", "Branches": [
        {"StartAt": "a", "States": {"a": {"Type": "Pass", "Next": "nowhere"}}}]})"),
                        {.is_single_state = true});

    ASSERT_FALSE(machine);
    EXPECT_EQ(machine.error()[0].location, "/Branches/0/States/a/Next");
}

std::string nested_parallels(int levels) {
    auto text = std::string{R"({"Type": "Succeed"})"};
    for (auto level = 0; level < levels; ++level) {
        text = fmt::format(R"({{"Type": "Parallel", "End": true, "Branches": [
            {{"StartAt": "s{0}", "States": {{"s{0}": {1}}}}}]}})",
                           level, text);
    }
    return fmt::format(R"({{"StartAt": "top", "States": {{"top": {}}}}})", text);
}

TEST(AslRead, TakesTwoHundredParallelsWithinEachOther) {
    auto machine = machine_of(nested_parallels(200));

    EXPECT_EQ(machine->flows.size(), 201U);
    EXPECT_EQ(machine->states.size(), 201U);
}

TEST(AslRead, ToldOfMoreProblemsThanAnybodyReadsItKeepsAThousand) {
    auto text = std::string{R"({"StartAt": "s", "States": {"s": {"Type": "Pass", "End": true)"};
    for (auto number = 0; number < 5000; ++number) {
        text += fmt::format(R"(, "f{}": 1)", number);
    }

    auto machine = read(form_of(text + "}}}"));

    ASSERT_FALSE(machine);
    EXPECT_EQ(machine.error().size(), 1000U);
}

} // namespace
} // namespace sluice::workflow::asl
