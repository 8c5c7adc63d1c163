#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "value/json.h"
#include "workflow/asl/read.h"
#include "workflow/asl/testing/definitions.h"

namespace sluice::workflow::asl {
namespace {

using testing::definition_with;
using testing::form_of;
using testing::problems_of;

constexpr auto schema_at = "SCHEMA_VALIDATION_FAILED at ";
constexpr auto target_at = "MISSING_TRANSITION_TARGET at ";

/// A state that is right, the same with one thing wrong, and where that is told.
struct RuleCase {
    std::string_view right;
    std::string_view wrong;
    std::string_view location;
};

void expect_rules(std::span<const RuleCase> cases) {
    for (const auto& [right, wrong, location] : cases) {
        if (!right.empty()) {
            EXPECT_EQ(problems_of(definition_with(right)), "") << right;
        }
        EXPECT_EQ(problems_of(definition_with(wrong)), schema_at + std::string{location}) << wrong;
    }
}

TEST(AslRules, OfEveryState) {
    constexpr auto cases = std::to_array<RuleCase>({
        {R"({"Type": "Succeed"})", R"({"Type": "Stop"})", "/States/S/Type"},
        {R"({"Type": "Succeed"})", R"({"Type": 7})", "/States/S/Type"},
        {R"({"Type": "Succeed"})", R"({"End": true})", "/States/S"},
        {R"({"Type": "Pass", "Comment": "c", "End": true})",
         R"({"Type": "Pass", "Comment": 1, "End": true})", "/States/S/Comment"},
        {R"({"Type": "Pass", "End": true})", R"({"Type": "Pass"})", "/States/S"},
        {R"({"Type": "Pass", "Next": "Next"})", R"({"Type": "Pass", "Next": "Next", "End": true})",
         "/States/S"},
        {R"({"Type": "Pass", "End": true})", R"({"Type": "Pass", "End": false})", "/States/S/End"},
        {R"({"Type": "Pass", "End": true})", R"({"Type": "Pass", "End": true, "Ende": 1})",
         "/States/S/Ende"},
        {R"({"Type": "Pass", "QueryLanguage": "JSONata", "End": true})",
         R"({"Type": "Pass", "QueryLanguage": "XPath", "End": true})", "/States/S/QueryLanguage"},
        {R"({"Type": "Succeed"})", R"({"Type": "Succeed", "End": true})", "/States/S/End"},
        {R"({"Type": "Fail"})", R"({"Type": "Fail", "OutputPath": "$"})", "/States/S/OutputPath"},
    });
    expect_rules(cases);
}

TEST(AslRules, OfFieldsByKindAndLanguage) {
    constexpr auto cases = std::to_array<RuleCase>({
        {R"({"Type": "Pass", "Parameters": {"a": 1}, "End": true})",
         R"({"Type": "Succeed", "Parameters": {"a": 1}})", "/States/S/Parameters"},
        {R"({"Type": "Pass", "ResultPath": "$.a", "End": true})",
         R"({"Type": "Wait", "Seconds": 1, "ResultPath": "$.a", "End": true})",
         "/States/S/ResultPath"},
        {"", R"({"Type": "Pass", "ResultSelector": {}, "End": true})", "/States/S/ResultSelector"},
        {"", R"({"Type": "Pass", "Retry": [], "End": true})", "/States/S/Retry"},
        {"", R"({"Type": "Succeed", "Assign": {"a": 1}})", "/States/S/Assign"},
        {R"({"Type": "Pass", "QueryLanguage": "JSONata", "Output": 1, "End": true})",
         R"({"Type": "Pass", "Output": 1, "End": true})", "/States/S/Output"},
        {R"({"Type": "Pass", "InputPath": "$.a", "End": true})",
         R"({"Type": "Pass", "QueryLanguage": "JSONata", "InputPath": "$.a", "End": true})",
         "/States/S/InputPath"},
        {R"({"Type": "Pass", "Result": 1, "End": true})",
         R"({"Type": "Pass", "QueryLanguage": "JSONata", "Result": 1, "End": true})",
         "/States/S/Result"},
        {"", R"({"Type": "Pass", "Arguments": {}, "End": true})", "/States/S/Arguments"},
    });
    expect_rules(cases);
}

TEST(AslRules, OfPathsAndTemplates) {
    constexpr auto cases = std::to_array<RuleCase>({
        {R"({"Type": "Pass", "InputPath": "$$.Execution.Id", "End": true})",
         R"({"Type": "Pass", "InputPath": "a.b", "End": true})", "/States/S/InputPath"},
        {R"({"Type": "Pass", "InputPath": "$.a[*]", "End": true})",
         R"j({"Type": "Pass", "InputPath": "States.UUID()", "End": true})j", "/States/S/InputPath"},
        {"", R"({"Type": "Pass", "OutputPath": 5, "End": true})", "/States/S/OutputPath"},
        {R"({"Type": "Pass", "ResultPath": "$.a[0].b", "End": true})",
         R"({"Type": "Pass", "ResultPath": "$.a[*]", "End": true})", "/States/S/ResultPath"},
        {"", R"({"Type": "Pass", "ResultPath": "$$.a", "End": true})", "/States/S/ResultPath"},
        {"", R"({"Type": "Pass", "ResultPath": "$name", "End": true})", "/States/S/ResultPath"},
        {R"({"Type": "Pass", "Parameters": {"a": {"b.$": "$.c"}}, "End": true})",
         R"({"Type": "Pass", "Parameters": {"a": {"b.$": "c"}}, "End": true})",
         "/States/S/Parameters/a"},
        {"", R"({"Type": "Pass", "Parameters": {"b.$": 5}, "End": true})", "/States/S/Parameters"},
        {"", R"({"Type": "Pass", "Parameters": {"b.$": "$.c", "b": 1}, "End": true})",
         "/States/S/Parameters"},
        {R"j({"Type": "Pass", "Parameters": {"b.$": "States.MathAdd(1, $.x)"}, "End": true})j",
         R"j({"Type": "Pass", "Parameters": {"b.$": "States.Nothing(1)"}, "End": true})j",
         "/States/S/Parameters"},
        {R"({"Type": "Pass", "QueryLanguage": "JSONata", "Output": "{% 1 + 1 %}", "End": true})",
         R"({"Type": "Pass", "QueryLanguage": "JSONata", "Output": "{% 1 + %}", "End": true})",
         "/States/S/Output"},
        {R"({"Type": "Pass", "QueryLanguage": "JSONata", "Output": " {% 1 %} ", "End": true})",
         R"({"Type": "Pass", "QueryLanguage": "JSONata", "Output": ["{% 1"], "End": true})",
         "/States/S/Output/0"},
        {"", R"({"Type": "Pass", "QueryLanguage": "JSONata", "Output": "1 %}", "End": true})",
         "/States/S/Output"},
        {R"({"Type": "Pass", "QueryLanguage": "JSONata", "Output": {"a.$": "$.b"}, "End": true})",
         R"({"Type": "Pass", "QueryLanguage": "JSONata", "Output": {"a": "{% $( %}"}, "End": true})",
         "/States/S/Output/a"},
        {"", R"({"Type": "Pass", "QueryLanguage": "JSONata", "Output": "{% $states.result %}",
                 "End": true})",
         "/States/S/Output"},
    });
    expect_rules(cases);
}

TEST(AslRules, OfVariables) {
    constexpr auto cases = std::to_array<RuleCase>({
        {R"({"Type": "Pass", "Assign": {"a_1.$": "$.b", "é": 2}, "End": true})",
         R"({"Type": "Pass", "Assign": {"1a": 1}, "End": true})", "/States/S/Assign/1a"},
        {"", R"({"Type": "Pass", "Assign": {"a.b": 1}, "End": true})", "/States/S/Assign/a.b"},
        {"", R"({"Type": "Pass", "Assign": {"states": 1}, "End": true})",
         "/States/S/Assign/states"},
        {"", R"({"Type": "Pass", "Assign": [1], "End": true})", "/States/S/Assign"},
    });
    expect_rules(cases);
    auto name = std::string(81, 'v');
    EXPECT_EQ(problems_of(definition_with(
                  fmt::format(R"({{"Type": "Pass", "Assign": {{"{}": 1}}, "End": true}})", name))),
              schema_at + ("/States/S/Assign/" + name));
}

TEST(AslRules, OfWaitStates) {
    constexpr auto cases = std::to_array<RuleCase>({
        {R"({"Type": "Wait", "Seconds": 0, "End": true})", R"({"Type": "Wait", "End": true})",
         "/States/S"},
        {R"({"Type": "Wait", "Seconds": 99999999, "End": true})",
         R"({"Type": "Wait", "Seconds": 100000000, "End": true})", "/States/S/Seconds"},
        {"", R"({"Type": "Wait", "Seconds": 1.5, "End": true})", "/States/S/Seconds"},
        {"", R"({"Type": "Wait", "Seconds": "$.s", "End": true})", "/States/S/Seconds"},
        {R"({"Type": "Wait", "SecondsPath": "$.s", "End": true})",
         R"({"Type": "Wait", "Seconds": 1, "SecondsPath": "$.s", "End": true})", "/States/S"},
        {R"({"Type": "Wait", "Timestamp": "2026-02-28T10:00:00.123456789+02:00", "End": true})",
         R"({"Type": "Wait", "Timestamp": "2026-02-30T10:00:00Z", "End": true})",
         "/States/S/Timestamp"},
        {R"({"Type": "Wait", "Timestamp": "9999-12-31T23:59:59Z", "End": true})",
         R"({"Type": "Wait", "Timestamp": "2026-02-28 10:00:00Z", "End": true})",
         "/States/S/Timestamp"},
        {R"j({"Type": "Wait", "QueryLanguage": "JSONata", "Timestamp": "{% $now() %}", "End": true})j",
         R"j({"Type": "Wait", "Timestamp": "{% $now() %}", "End": true})j", "/States/S/Timestamp"},
        {R"({"Type": "Wait", "TimestampPath": "$.t", "End": true})",
         R"({"Type": "Wait", "TimestampPath": "$.t[*]", "End": true})", "/States/S/TimestampPath"},
    });
    expect_rules(cases);
}

TEST(AslRules, OfFailStates) {
    constexpr auto cases = std::to_array<RuleCase>({
        {R"j({"Type": "Fail", "Error": "E", "CausePath": "States.Format('{}', $.c)"})j",
         R"({"Type": "Fail", "Error": "E", "ErrorPath": "$.e"})", "/States/S"},
        {"", R"({"Type": "Fail", "Cause": "E", "CausePath": "$.e"})", "/States/S"},
        {"", R"({"Type": "Fail", "Cause": 5})", "/States/S/Cause"},
        {"", R"({"Type": "Fail", "Next": "Next"})", "/States/S/Next"},
    });
    for (const auto& [right, wrong, location] : cases) {
        auto problems = problems_of(definition_with(wrong));
        EXPECT_TRUE(problems.starts_with(schema_at + std::string{location})) << problems;
    }
    EXPECT_EQ(problems_of(definition_with(cases[0].right)), "");
}

TEST(AslRules, OfChoiceStates) {
    constexpr auto rule = R"({{"Type": "Choice", "Default": "Next", "Choices": [{}]}})";
    auto problems = [&](std::string_view inside) {
        return problems_of(definition_with(fmt::format(fmt::runtime(rule), inside)));
    };

    EXPECT_EQ(problems(R"({"Variable": "$.a", "StringEquals": "x", "Next": "Next"})"), "");
    EXPECT_EQ(problems(R"({"Not": {"Variable": "$.a", "IsNull": true}, "Next": "Next"})"), "");
    EXPECT_EQ(problems(""), schema_at + std::string{"/States/S/Choices"});
    EXPECT_EQ(problems("5"), schema_at + std::string{"/States/S/Choices/0"});
    EXPECT_EQ(problems(R"({"Variable": "$.a", "StringEquals": "x"})"),
              schema_at + std::string{"/States/S/Choices/0"});
    EXPECT_EQ(problems(R"({"Variable": "$.a", "StringEquals": "x", "Next": "elsewhere"})"),
              target_at + std::string{"/States/S/Choices/0/Next"});
    EXPECT_NE(problems(R"({"Variable": "$.a", "StringEquals": 5, "Next": "Next"})"), "");
    EXPECT_NE(problems(R"({"Variable": "$.a", "StringEqual": "x", "Next": "Next"})"), "");
    EXPECT_NE(problems(R"({"StringEquals": "x", "Next": "Next"})"), "");
    EXPECT_NE(problems(R"j({"Variable": "States.UUID()", "IsNull": true, "Next": "Next"})j"), "");
    EXPECT_EQ(problems(R"({"Not": {"Variable": "$.a", "IsNull": true, "Next": "Next"},
                           "Next": "Next"})"),
              schema_at + std::string{"/States/S/Choices/0/Not/Next"});
    EXPECT_NE(problems(R"({"Condition": "{% true %}", "Next": "Next"})"), "");
}

TEST(AslRules, OfChoiceStatesInJsonata) {
    constexpr auto rule =
        R"({{"Type": "Choice", "QueryLanguage": "JSONata", "Default": "Next", "Choices": [{}]}})";
    auto problems = [&](std::string_view inside) {
        return problems_of(definition_with(fmt::format(fmt::runtime(rule), inside)));
    };

    EXPECT_EQ(problems(R"({"Condition": "{% $states.input.a %}", "Next": "Next", "Output": 1})"),
              "");
    EXPECT_EQ(problems(R"({"Condition": true, "Next": "Next"})"), "");
    EXPECT_EQ(problems(R"({"Next": "Next"})"), schema_at + std::string{"/States/S/Choices/0"});
    EXPECT_NE(problems(R"({"Condition": 5, "Next": "Next"})"), "");
    EXPECT_NE(problems(R"({"Variable": "$.a", "IsNull": true, "Next": "Next"})"), "");
}

TEST(AslRules, OfTaskStates) {
    constexpr auto cases = std::to_array<RuleCase>({
        {R"({"Type": "Task", "Resource": "arn:aws:states:::sns:publish", "End": true})",
         R"({"Type": "Task", "End": true})", "/States/S"},
        {"", R"({"Type": "Task", "Resource": 5, "End": true})", "/States/S/Resource"},
        {"", R"({"Type": "Task", "Resource": "", "End": true})", "/States/S/Resource"},
        {"", R"({"Type": "Task", "Resource": "arn:aws:states:::sns:shout", "End": true})",
         "/States/S/Resource"},
        {"", R"({"Type": "Task", "Resource": "arn:aws:states:::sns:publish.sync", "End": true})",
         "/States/S/Resource"},
        {"",
         R"({"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:GetObject", "End": true})",
         "/States/S/Resource"},
        {"", R"({"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:getObject.sync",
                 "End": true})",
         "/States/S/Resource"},
        {"", R"({"Type": "Task", "Resource": "arn:aws:lambda:r:1:function:f:", "End": true})",
         "/States/S/Resource"},
        {"", R"({"Type": "Task", "Resource": "${Unclosed", "End": true})", "/States/S/Resource"},
        {R"({"Type": "Task", "Resource": "f:g", "Credentials": {"Role": "r"}, "End": true})",
         R"({"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke",
             "Credentials": {"Role": "r"}, "End": true})",
         "/States/S/Credentials"},
        {R"({"Type": "Task", "Resource": "f:g", "Credentials": {"RoleArn.$": "$.r"}, "End": true})",
         R"({"Type": "Task", "Resource": "f:g", "Credentials": null, "End": true})",
         "/States/S/Credentials"},
        {R"({"Type": "Task", "Resource": "f:g", "TimeoutSeconds": 9, "HeartbeatSeconds": 8,
             "End": true})",
         R"({"Type": "Task", "Resource": "f:g", "TimeoutSeconds": 9, "HeartbeatSeconds": 9,
             "End": true})",
         "/States/S/HeartbeatSeconds"},
        {"", R"({"Type": "Task", "Resource": "f:g", "TimeoutSeconds": 0, "End": true})",
         "/States/S/TimeoutSeconds"},
        {"", R"({"Type": "Task", "Resource": "f:g", "TimeoutSeconds": 1,
                 "TimeoutSecondsPath": "$.t", "End": true})",
         "/States/S"},
        {R"({"Type": "Task", "QueryLanguage": "JSONata", "Resource": "f:g",
             "Arguments": "{% $states.input %}", "End": true})",
         R"({"Type": "Task", "QueryLanguage": "JSONata", "Resource": "f:g", "Arguments": [1],
             "End": true})",
         "/States/S/Arguments"},
    });
    expect_rules(cases);
}

TEST(AslRules, OfRetriers) {
    constexpr auto task = R"({{"Type": "Task", "Resource": "f:g", "Retry": {}, "End": true}})";
    auto problems = [&](std::string_view retry) {
        return problems_of(definition_with(fmt::format(fmt::runtime(task), retry)));
    };
    auto at = [](std::string_view member) {
        return fmt::format("{}/States/S/Retry{}", schema_at, member);
    };

    EXPECT_EQ(problems("[]"), "");
    EXPECT_EQ(problems(R"([{"ErrorEquals": ["A"], "MaxDelaySeconds": 2, "Comment": "c"}])"), "");
    EXPECT_EQ(problems(R"({"ErrorEquals": ["A"]})"), at(""));
    EXPECT_EQ(problems(R"(["A"])"), at("/0"));
    EXPECT_EQ(problems(R"([{}])"), at("/0"));
    EXPECT_EQ(problems(R"([{"ErrorEquals": []}])"), at("/0/ErrorEquals"));
    EXPECT_EQ(problems(R"([{"ErrorEquals": [1]}])"), at("/0/ErrorEquals/0"));
    EXPECT_EQ(problems(R"([{"ErrorEquals": ["States.ALL", "A"]}])"), at("/0/ErrorEquals"));
    EXPECT_EQ(problems(R"([{"ErrorEquals": ["States.ALL"]}, {"ErrorEquals": ["A"]}])"),
              at("/0/ErrorEquals"));
    EXPECT_EQ(problems(R"([{"ErrorEquals": ["A"], "IntervalSeconds": 0}])"),
              at("/0/IntervalSeconds"));
    EXPECT_EQ(problems(R"([{"ErrorEquals": ["A"], "MaxAttempts": -1}])"), at("/0/MaxAttempts"));
    EXPECT_EQ(problems(R"([{"ErrorEquals": ["A"], "BackoffRate": 0.9}])"), at("/0/BackoffRate"));
    EXPECT_EQ(problems(R"([{"ErrorEquals": ["A"], "IntervalSeconds": 5, "MaxDelaySeconds": 5}])"),
              at("/0/MaxDelaySeconds"));
    EXPECT_EQ(problems(R"([{"ErrorEquals": ["A"], "MaxDelaySeconds": 31622400}])"),
              at("/0/MaxDelaySeconds"));
    EXPECT_EQ(problems(R"([{"ErrorEquals": ["A"], "JitterStrategy": "HALF"}])"),
              at("/0/JitterStrategy"));
    EXPECT_EQ(problems(R"([{"ErrorEquals": ["A"], "MaxRetries": 1}])"), at("/0/MaxRetries"));
}

TEST(AslRules, OfCatchers) {
    constexpr auto task =
        R"({{"Type": "Task", {} "Resource": "f:g", "Catch": {}, "Next": "Next"}})";
    auto problems = [&](std::string_view rules, std::string_view more = "") {
        return problems_of(definition_with(fmt::format(fmt::runtime(task), more, rules)));
    };
    constexpr auto jsonata = R"("QueryLanguage": "JSONata",)";
    auto at = [](std::string_view member) {
        return fmt::format("{}/States/S/Catch{}", schema_at, member);
    };

    EXPECT_EQ(problems("[]"), "");
    EXPECT_EQ(problems(R"([{"ErrorEquals": ["A"], "Next": "Next", "ResultPath": null}])"), "");
    EXPECT_EQ(problems(R"([{"ErrorEquals": ["A"]}])"), at("/0"));
    EXPECT_EQ(problems(R"([{"ErrorEquals": ["A"], "Next": "Away"}])"),
              target_at + std::string{"/States/S/Catch/0/Next"});
    EXPECT_EQ(problems(R"([{"ErrorEquals": ["A"], "Next": "Next", "Output": 1}])"),
              at("/0/Output"));
    EXPECT_EQ(problems(R"([{"ErrorEquals": ["A"], "Next": "Next",
                            "Output": "{% $states.errorOutput %}"}])",
                       jsonata),
              "");
    EXPECT_EQ(problems(R"([{"ErrorEquals": ["A"], "Next": "Next", "ResultPath": "$.e"}])", jsonata),
              at("/0/ResultPath"));
    EXPECT_EQ(
        problems(R"([{"ErrorEquals": ["A"], "Next": "Next", "Output": "{% $states.result %}"}])",
                 jsonata),
        at("/0/Output"));
}

TEST(AslRules, OfParallelStates) {
    constexpr auto cases = std::to_array<RuleCase>({
        {R"({"Type": "Parallel", "End": true,
             "Branches": [{"StartAt": "a", "States": {"a": {"Type": "Succeed"}}}]})",
         R"({"Type": "Parallel", "End": true})", "/States/S"},
        {"", R"({"Type": "Parallel", "End": true, "Branches": []})", "/States/S/Branches"},
        {"", R"({"Type": "Parallel", "End": true, "Branches": [[]]})", "/States/S/Branches/0"},
        {"",
         R"({"Type": "Parallel", "End": true, "Branches": [{"States": {"a": {"Type": "Fail"}}}]})",
         "/States/S/Branches/0"},
        {"", R"({"Type": "Parallel", "End": true,
                 "Branches": [{"StartAt": "a", "States": {}}]})",
         "/States/S/Branches/0/States"},
    });
    expect_rules(cases);
}

} // namespace
} // namespace sluice::workflow::asl
