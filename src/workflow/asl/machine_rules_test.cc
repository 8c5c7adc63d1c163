#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "value/json.h"
#include "workflow/asl/check.h"
#include "workflow/asl/parse.h"
#include "workflow/asl/read.h"
#include "workflow/asl/testing/definitions.h"

namespace sluice::workflow::asl {
namespace {

using testing::definition_with;
using testing::form_of;
using testing::problems_of;

std::string told(std::string_view text, const ReadOptions& options) {
    auto machine = read(form_of(text), options);
    return machine ? "" : machine.error()[0].location + ": " + machine.error()[0].message;
}

TEST(AslMachineRules, OfTheTopLevel) {
    constexpr auto states = R"("States": {"S": {"Type": "Succeed"}})";
    auto problems = [&](std::string_view more) {
        return problems_of(fmt::format("{{{}, {}}}", more, states));
    };

    EXPECT_EQ(problems(R"("StartAt": "S", "Version": "1.0", "QueryLanguage": "JSONata")"), "");
    EXPECT_EQ(problems(R"("Comment": "c")"), "SCHEMA_VALIDATION_FAILED at /");
    EXPECT_EQ(problems(R"("StartAt": "T")"), "MISSING_TRANSITION_TARGET at /StartAt");
    EXPECT_EQ(problems(R"("StartAt": "S", "Version": "2.0")"),
              "SCHEMA_VALIDATION_FAILED at /Version");
    EXPECT_EQ(problems(R"("StartAt": "S", "TimeoutSeconds": -1)"),
              "SCHEMA_VALIDATION_FAILED at /TimeoutSeconds");
    EXPECT_EQ(problems(R"("StartAt": "S", "Beginning": "S")"),
              "SCHEMA_VALIDATION_FAILED at /Beginning");
    EXPECT_EQ(problems_of(R"({"StartAt": "S"})"), "SCHEMA_VALIDATION_FAILED at /");
    EXPECT_EQ(problems_of(R"({"StartAt": "S", "States": []})"),
              "SCHEMA_VALIDATION_FAILED at /States");
    EXPECT_EQ(problems_of(R"({"StartAt": "S", "States": {"S": 1}})"),
              "SCHEMA_VALIDATION_FAILED at /States/S");
    EXPECT_EQ(problems_of("[]"), "SCHEMA_VALIDATION_FAILED at /");
}

TEST(AslMachineRules, TellsAllProblemsAtOnce) {
    EXPECT_EQ(problems_of(R"({"StartAt": "a", "States": {
                  "a": {"Type": "Pass", "Next": "c"}, "b": {"Type": "Wait", "End": true}}})"),
              "MISSING_TRANSITION_TARGET at /States/a/Next\n"
              "SCHEMA_VALIDATION_FAILED at /States/b\n"
              "MISSING_TRANSITION_TARGET at /States/b");
}

TEST(AslMachineRules, EveryStateCanBeReached) {
    EXPECT_EQ(problems_of(R"({"StartAt": "a", "States": {"a": {"Type": "Pass", "End": true},
                  "b": {"Type": "Succeed"}}})"),
              "MISSING_TRANSITION_TARGET at /States/b");
    EXPECT_EQ(problems_of(R"({"StartAt": "a", "States": {"b": {"Type": "Succeed"},
                  "a": {"Type": "Task", "Resource": "f:g", "End": true,
                        "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "b"}]}}})"),
              "");
}

TEST(AslMachineRules, SomeStateEndsAFlow) {
    EXPECT_EQ(problems_of(R"({"StartAt": "a", "States": {"a": {"Type": "Pass", "Next": "b"},
                  "b": {"Type": "Pass", "Next": "a"}}})"),
              "MISSING_END_STATE at /States");
    EXPECT_EQ(problems_of(R"({"StartAt": "a", "States": {"a": {"Type": "Pass", "Next": "b"},
                  "b": {"Type": "Choice", "Default": "a", "Choices": [
                      {"Variable": "$.x", "IsNull": true, "Next": "c"}]},
                  "c": {"Type": "Fail"}}})"),
              "");
}

TEST(AslMachineRules, TransitionsDoNotLeaveTheirFlow) {
    EXPECT_EQ(problems_of(R"({"StartAt": "p", "States": {"z": {"Type": "Succeed"},
                  "p": {"Type": "Parallel", "Next": "z", "Branches": [
                      {"StartAt": "a", "States": {"a": {"Type": "Pass", "Next": "z"}}}]}}})"),
              "MISSING_TRANSITION_TARGET at /States/p/Branches/0/States/a/Next");
}

TEST(AslMachineRules, NamesAreUniqueAndShort) {
    auto named = [](const std::string& name) {
        return problems_of(fmt::format(
            R"({{"StartAt": "{0}", "States": {{"{0}": {{"Type": "Succeed"}}}}}})", name));
    };

    EXPECT_EQ(named(std::string(80, 'n')), "");
    EXPECT_EQ(named(std::string(81, 'n')), "INVALID_STATE_NAME at /States/" + std::string(81, 'n'));
    EXPECT_EQ(named(""), "INVALID_STATE_NAME at /States/");
    EXPECT_EQ(problems_of(R"({"StartAt": "a", "States": {"a": {"Type": "Parallel", "End": true,
                  "Branches": [{"StartAt": "a", "States": {"a": {"Type": "Succeed"}}}]}}})"),
              "DUPLICATE_STATE_NAME at /States/a/Branches/0/States/a");
}

TEST(AslMachineRules, PointersEscapeNames) {
    EXPECT_EQ(problems_of(R"({"StartAt": "a/b~", "States": {"a/b~": {"Type": "Pass"}}})"),
              "SCHEMA_VALIDATION_FAILED at /States/a~1b~0");
}

TEST(AslMachineRules, AJsonataMachineHasNoStatesInJsonPath) {
    EXPECT_EQ(told(R"({"StartAt": "S", "QueryLanguage": "JSONata", "States": {
                  "S": {"Type": "Pass", "QueryLanguage": "JSONPath", "End": true}}})",
                   {}),
              "/States/S: 'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole "
              "state machine");
}

TEST(AslMachineRules, LabelsAreUnique) {
    constexpr auto map = R"({{"Type": "Map", {}, "Label": "l", "ItemProcessor": {{
        "ProcessorConfig": {{"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}},
        "StartAt": "{}", "States": {{"{}": {{"Type": "Succeed"}}}}}}}})";

    EXPECT_EQ(problems_of(fmt::format(R"({{"StartAt": "a", "States": {{"a": {}, "b": {}}}}})",
                                      fmt::format(fmt::runtime(map), R"("Next": "b")", "x", "x"),
                                      fmt::format(fmt::runtime(map), R"("End": true)", "y", "y"))),
              "DUPLICATE_LABEL_NAME at /States/b/Label");
}

TEST(AslMachineRules, InnerStatesDoNotAssignOuterVariables) {
    constexpr auto nested = R"({{"StartAt": "p", "States": {{"p": {{"Type": "Map", "End": true,
        "Assign": {{"sum": 1}}, "ItemProcessor": {{"ProcessorConfig": {}, "StartAt": "a",
        "States": {{"a": {{"Type": "Pass", "Assign": {{"{}": 2}}, "End": true}}}}}}}}}}}})";
    auto problems = [&](std::string_view config, std::string_view name) {
        return problems_of(fmt::format(fmt::runtime(nested), config, name));
    };

    EXPECT_EQ(problems("{}", "other"), "");
    EXPECT_EQ(problems("{}", "sum"),
              "SCHEMA_VALIDATION_FAILED at /States/p/ItemProcessor/States/a/Assign/sum");
    EXPECT_EQ(problems(R"({"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"})", "sum"), "");
}

TEST(AslMachineRules, ExpressMachinesRefuseWhatTheyCannotWaitFor) {
    auto refused = [](std::string_view resource) {
        return told(definition_with(fmt::format(
                        R"({{"Type": "Task", "Resource": "{}", "End": true}})", resource)),
                    {.is_express = true});
    };

    EXPECT_EQ(refused("arn:aws:states:::sqs:sendMessage"), "");
    EXPECT_EQ(refused("arn:aws:states:::sqs:sendMessage.waitForTaskToken"),
              "/States/S/Resource: Express state machine does not support '.waitForTaskToken' "
              "service integration ");
    EXPECT_EQ(refused("arn:aws:states:::states:startExecution.sync:2"),
              "/States/S/Resource: Express state machine does not support '.sync:2' service "
              "integration ");
    EXPECT_EQ(refused("arn:aws:states:us-east-1:1:activity:a"),
              "/States/S/Resource: Express state machine does not support Activity ARN");
}

TEST(AslMachineRules, ExpressChildrenRefuseTheSame) {
    EXPECT_EQ(problems_of(definition_with(R"({"Type": "Map", "End": true, "ItemProcessor": {
                  "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "EXPRESS"},
                  "StartAt": "a", "States": {"a": {"Type": "Task", "End": true,
                      "Resource": "arn:aws:states:us-east-1:1:activity:a"}}}})")),
              "SCHEMA_VALIDATION_FAILED at /States/S/ItemProcessor/States/a/Resource");
    EXPECT_NE(told(definition_with(R"({"Type": "Map", "End": true, "ItemProcessor": {
                  "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
                  "StartAt": "a", "States": {"a": {"Type": "Succeed"}}}})"),
                   {.is_express = true}),
              "");
}

TEST(AslMachineRules, UnsupportedIntegrationsAreRefusedByNameWhereNothingIsMocked) {
    auto text = definition_with(
        R"({"Type": "Task", "Resource": "arn:aws:states:::dynamodb:getItem", "End": true})");

    EXPECT_EQ(told(text, {}), "");
    EXPECT_EQ(told(text, {.refuses_unsupported = true}),
              "/States/S/Resource: The integration 'dynamodb:getItem' is not done here: it can "
              "only be mocked");
}

std::string warned(std::string_view state) {
    auto lines = std::string{};
    for (const auto& warning : warnings(form_of(definition_with(state)))) {
        lines +=
            fmt::format("{}{} at {}", lines.empty() ? "" : "\n", warning.code, warning.location);
    }
    return lines;
}

TEST(AslMachineRules, WarnsOfWhatMayBeMeantOtherwise) {
    EXPECT_EQ(warned(R"({"Type": "Pass", "Parameters": {"a": ["$.b"], "c": "$.d"}, "End": true})"),
              "NO_DOLLAR at /States/S/Parameters/c");
    EXPECT_EQ(warned(R"({"Type": "Fail", "Cause": "$.cause"})"), "NO_PATH at /States/S/Cause");
    EXPECT_EQ(warned(R"({"Type": "Pass", "Result": {"a": "$.b"}, "End": true})"),
              "PASS_RESULT_IS_STATIC at /States/S/Result/a");
    EXPECT_EQ(warned(R"({"Type": "Map", "Label": "l", "End": true, "ItemProcessor": {"StartAt": "i",
                  "States": {"i": {"Type": "Succeed"}}}})"),
              "INFERRED_MODE at /States/S/Label");
    EXPECT_EQ(warned(R"({"Type": "Pass", "Parameters": {"a.$": "$b.c"}, "End": true})"),
              "UNKNOWN_VARIABLE at /States/S/Parameters");
    EXPECT_EQ(warned(R"({"Type": "Choice", "Default": "Next", "Choices": [
                  {"Variable": "$b", "IsNull": true, "Next": "Next"}]})"),
              "UNKNOWN_VARIABLE at /States/S/Choices/0");
    EXPECT_EQ(warned(R"({"Type": "Pass", "QueryLanguage": "JSONata", "End": true,
                  "Output": {"a": "{% b.c %}", "d": "{% $states.input.e[f = 1] %}"}})"),
              "NO_INPUT_IN_EXPRESSION at /States/S/Output");
    EXPECT_EQ(warned(R"({"Type": "Pass", "Assign": {"a-b": 1}, "End": true})"),
              "INVALID_VARIABLE_NAME at /States/S/Assign/a-b");
    EXPECT_EQ(warned(R"({"Type": "Task", "Resource": "${Function}", "End": true})"),
              "UNRESOLVED_SUBSTITUTION at /States/S/Resource");
    EXPECT_EQ(
        warned(R"({"Type": "Task", "Resource": "arn:aws:states:::ecs:runTask", "End": true})"),
        "INVALID_RESOURCE at /States/S/Resource");
}

TEST(AslMachineRules, WarnsOfVariablesThatAScopeDoesNotSee) {
    auto told = [](std::string_view mode) {
        auto text = fmt::format(R"({{"StartAt": "a", "States": {{
            "a": {{"Type": "Pass", "Assign": {{"x": 1}}, "Next": "b"}},
            "b": {{"Type": "Map", "End": true, "ItemSelector": {{"x.$": "$x"}}, "ItemProcessor": {{
                "ProcessorConfig": {}, "StartAt": "c", "States": {{
                    "c": {{"Type": "Pass", "Assign": {{"y": 1}}, "Next": "d"}},
                    "d": {{"Type": "Pass", "Parameters": {{"x.$": "$x", "y.$": "$y"}},
                         "End": true}}}}}}}}}}}})",
                                mode);
        auto found = warnings(form_of(text));
        return found.empty() ? "" : found[0].location + ": " + found[0].message;
    };

    EXPECT_EQ(told(R"({"Mode": "INLINE"})"), "");
    EXPECT_EQ(told(R"({"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"})"),
              "/States/b/ItemProcessor/States/d/Parameters: The variable 'x' is assigned outside "
              "of a distributed Map, whose items do not see it; hand it to them by ItemSelector");
}

TEST(AslCheck, GivesPlacesInTheFile) {
    auto document =
        raw::parse("StartAt: a\nStates:\n  a:\n    Type: Pass\n    Next: b\n", "m.asl.yaml");

    auto findings = check(*document);

    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(raw::to_text(findings[0]), "m.asl.yaml:5:5: States/a/Next: Missing 'Next' target: b");
    EXPECT_EQ(findings[0].code, "MISSING_TRANSITION_TARGET");
    EXPECT_EQ(findings[0].location, "/States/a/Next");
}

TEST(AslCheck, KnowsMachinesByTheirContentAndFiles) {
    EXPECT_TRUE(resembles_machine(form_of(R"({"States": {}})")));
    EXPECT_FALSE(resembles_machine(form_of(R"({"tasks": {}})")));
    EXPECT_TRUE(may_be_machine("{}", "a.asl.json"));
    EXPECT_TRUE(may_be_machine("StartAt: a\nStates: {}\n", "a.yaml"));
    EXPECT_FALSE(may_be_machine("tasks: {}\n", "a.yaml"));
}

TEST(AslParse, TellsWhatIsNoJsonInTheServicesWords) {
    auto form = parse("not a definition");

    ASSERT_FALSE(form);
    EXPECT_EQ(form.error().code, "INVALID_JSON_DESCRIPTION");
    EXPECT_EQ(form.error().location, "[Source: (String)\"not a definition\"; line: 1, column: 4]");
    EXPECT_EQ(form.error().message,
              "Unrecognized token 'not': was expecting (JSON String, Number, Array, Object or "
              "token 'null', 'true' or 'false')\n at [Source: (String)\"not a definition\"; line: "
              "1, column: 4]");
}

TEST(AslParse, RefusesEmptyTextsAndKeysGivenTwice) {
    EXPECT_EQ(parse(" \n").error().code, "MISSING_DESCRIPTION");
    EXPECT_EQ(parse(R"({"a": 1, "a": 2})").error().code, "INVALID_JSON_DESCRIPTION");
    EXPECT_EQ(parse(R"({"a": )").error().code, "INVALID_JSON_DESCRIPTION");
    EXPECT_TRUE(parse("[1]"));
    EXPECT_FALSE(parse("[1"));
}

} // namespace
} // namespace sluice::workflow::asl
