#include "expr/states/choice.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "expr/states/testing/scene.h"
#include "value/json.h"

namespace sluice::expr::states {
namespace {

using testing::Scene;

std::string decided(std::string_view rule, std::string_view data,
                    Language language = Language::JsonPath) {
    auto condition = Condition::compile(value::parse_json(rule).value(), language);
    if (!condition) {
        const auto& [pointer, message] = condition.error().front();
        return pointer + ": " + message;
    }
    auto scene = Scene{data, R"({"c": 1})", R"({"v": "x"})"};
    auto verdict = condition->holds(scene.sight(), 0);
    if (!verdict) {
        return *verdict.error().error + ": " + *verdict.error().cause;
    }
    return *verdict ? "true" : "false";
}

/// `{"Variable": "$.a", OPERATOR: OPERAND}` for data `{"a": VARIABLE}`.
std::string tested(std::string_view comparison, std::string_view operand,
                   std::string_view variable) {
    return decided(fmt::format(R"({{"Variable": "$.a", "{}": {}}})", comparison, operand),
                   fmt::format(R"({{"a": {}, "b": {}}})", variable, operand));
}

void expect_order(std::string_view type, std::string_view low, std::string_view high) {
    auto check = [&](std::string_view relation, std::string_view variable, std::string_view operand,
                     std::string_view expected) {
        auto name = fmt::format("{}{}", type, relation);
        EXPECT_EQ(tested(name, operand, variable), expected) << name;
        auto by_path = fmt::format(R"({{"Variable": "$.a", "{}Path": "$.b"}})", name);
        EXPECT_EQ(decided(by_path, fmt::format(R"({{"a": {}, "b": {}}})", variable, operand)),
                  expected)
            << by_path;
    };
    check("Equals", low, low, "true");
    check("Equals", low, high, "false");
    check("LessThan", low, high, "true");
    check("LessThan", low, low, "false");
    check("LessThan", high, low, "false");
    check("GreaterThan", high, low, "true");
    check("GreaterThan", low, low, "false");
    check("LessThanEquals", low, low, "true");
    check("LessThanEquals", high, low, "false");
    check("GreaterThanEquals", low, low, "true");
    check("GreaterThanEquals", low, high, "false");
}

TEST(Choice, ComparesTextsNumbersAndTimes) {
    expect_order("String", R"("A")", R"("AB")");
    expect_order("String", R"("")", R"("a")");
    expect_order("Numeric", "1", "1.5");
    expect_order("Numeric", "-9007199254740993", "-9007199254740992.0");
    expect_order("Timestamp", R"("2012-10-09T19:00:55Z")", R"("2012-10-09T19:00:55.001Z")");
    expect_order("Timestamp", R"("2012-10-09T21:00:55+02:00")", R"("2012-10-09T19:00:56Z")");
}

TEST(Choice, ComparesTextsByUtf16Units) {
    EXPECT_EQ(tested("StringLessThan", R"("\uE000")", R"("\uD83D\uDE00")"), "true");
    EXPECT_EQ(tested("StringLessThan", R"("\uD83D\uDE00")", R"("\uD7FF")"), "true");
    EXPECT_EQ(tested("StringGreaterThan", R"("z")", R"("é")"), "true");
}

TEST(Choice, EqualsByValue) {
    EXPECT_EQ(tested("NumericEquals", "1", "1.0"), "true");
    EXPECT_EQ(tested("TimestampEquals", R"("2012-10-09T19:00:55Z")",
                     R"("2012-10-09T20:00:55.000+01:00")"),
              "true");
    EXPECT_EQ(tested("BooleanEquals", "true", "true"), "true");
    EXPECT_EQ(tested("BooleanEquals", "false", "true"), "false");
    EXPECT_EQ(decided(R"({"Variable": "$.a", "BooleanEqualsPath": "$.b"})",
                      R"({"a": false, "b": false})"),
              "true");
}

TEST(Choice, IsFalseForAnotherType) {
    for (const auto* variable :
         {"null", "1", "true", "[]", "{}", R"(" ")", R"("2012-10-09 19:00")"}) {
        EXPECT_EQ(tested("TimestampEquals", R"("2012-10-09T19:00:55Z")", variable), "false")
            << variable;
        EXPECT_EQ(tested("StringEquals", R"("x")", variable), "false") << variable;
        EXPECT_EQ(tested("NumericLessThan", "0", variable), "false") << variable;
    }
    EXPECT_EQ(tested("BooleanEquals", "true", R"("true")"), "false");
    EXPECT_EQ(tested("StringMatches", R"("*")", "1"), "false");
    EXPECT_EQ(
        decided(R"({"Variable": "$.a", "NumericEqualsPath": "$.b"})", R"({"a": 1, "b": "1"})"),
        "false");
}

TEST(Choice, MatchesPatterns) {
    auto matched = [](std::string_view pattern, std::string_view text) {
        return tested("StringMatches", value::to_json(Value{pattern}),
                      value::to_json(Value{text})) == "true";
    };
    EXPECT_TRUE(matched("*", ""));
    EXPECT_TRUE(matched("", ""));
    EXPECT_FALSE(matched("", "x"));
    EXPECT_TRUE(matched("log-*.txt", "log-2020.txt"));
    EXPECT_FALSE(matched("log-*.txt", "log-2020.txt2"));
    EXPECT_TRUE(matched("*.log*", "zebra.log.gz"));
    EXPECT_TRUE(matched("foo*.*", "foo23.log"));
    EXPECT_TRUE(matched("a*b*c", "aXbXbXc"));
    EXPECT_FALSE(matched("a*b*c", "aXcXb"));
    EXPECT_TRUE(matched("***a***", "a"));
    EXPECT_TRUE(matched(R"(a\*b)", "a*b"));
    EXPECT_FALSE(matched(R"(a\*b)", "aXb"));
    EXPECT_TRUE(matched(R"(a\\*)", R"(a\x)"));
    EXPECT_TRUE(matched(R"(a\)", R"(a\)"));
    EXPECT_TRUE(matched("*é*", "café!"));
    EXPECT_FALSE(matched("?", "x"));
}

TEST(Choice, TestsKinds) {
    auto holds = [](std::string_view test, std::string_view variable) {
        auto yes = tested(test, "true", variable);
        auto no = tested(test, "false", variable);
        EXPECT_NE(yes, no) << test << variable;
        return yes == "true";
    };
    EXPECT_TRUE(holds("IsNull", "null"));
    EXPECT_FALSE(holds("IsNull", "0"));
    EXPECT_TRUE(holds("IsPresent", "null"));
    EXPECT_TRUE(holds("IsNumeric", "1.5"));
    EXPECT_FALSE(holds("IsNumeric", R"("1")"));
    EXPECT_TRUE(holds("IsString", R"("")"));
    EXPECT_FALSE(holds("IsString", "[]"));
    EXPECT_TRUE(holds("IsBoolean", "false"));
    EXPECT_FALSE(holds("IsBoolean", R"("false")"));
    EXPECT_TRUE(holds("IsTimestamp", R"("2001-01-01T12:00:00Z")"));
    EXPECT_FALSE(holds("IsTimestamp", R"("2001-01-01")"));
    EXPECT_FALSE(holds("IsTimestamp", "978350400"));
}

TEST(Choice, FailsWhereNothingIsUnlessItAsksForThat) {
    EXPECT_EQ(
        decided(R"({"Variable": "$.x.y", "StringEquals": ""})", "{}"),
        "States.Runtime: Invalid path '$.x.y': The choice state's condition path references an "
        "invalid value.");
    EXPECT_EQ(decided(R"({"Variable": "$.a", "StringEqualsPath": "$.b"})", R"({"a": "x"})"),
              "States.Runtime: Invalid path '$.b': The choice state's condition path references an "
              "invalid value.");
    EXPECT_EQ(decided(R"({"Variable": "$.a", "IsPresent": false})", "{}"), "true");
    EXPECT_EQ(decided(R"({"Variable": "$.a", "IsPresent": true})", "{}"), "false");
    EXPECT_EQ(decided(R"({"And": [{"Variable": "$.a", "IsPresent": true},
                                  {"Variable": "$.a", "NumericEquals": 1}]})",
                      "{}"),
              "false");
}

TEST(Choice, JoinsRules) {
    constexpr auto is_one = R"({"Variable": "$.a", "NumericEquals": 1})";
    constexpr auto is_two = R"({"Variable": "$.b", "NumericEquals": 2})";
    auto both = fmt::format(R"({{"And": [{}, {}], "Next": "X"}})", is_one, is_two);
    auto either = fmt::format(R"({{"Or": [{}, {}]}})", is_one, is_two);
    auto neither = fmt::format(R"({{"Not": {}, "Comment": "c"}})", either);

    EXPECT_EQ(decided(both, R"({"a": 1, "b": 2})"), "true");
    EXPECT_EQ(decided(both, R"({"a": 1, "b": 3})"), "false");
    EXPECT_EQ(decided(either, R"({"a": 0, "b": 2})"), "true");
    EXPECT_EQ(decided(either, R"({"a": 0, "b": 0})"), "false");
    EXPECT_EQ(decided(neither, R"({"a": 0, "b": 0})"), "true");
}

TEST(Choice, ReadsContextAndVariables) {
    EXPECT_EQ(decided(R"({"Variable": "$$.c", "NumericEquals": 1})", "{}"), "true");
    EXPECT_EQ(decided(R"({"Variable": "$v", "StringEqualsPath": "$.a"})", R"({"a": "x"})"), "true");
    auto condition = Condition::compile(
        value::parse_json(R"({"Variable": "$v.a", "StringEqualsPath": "$w"})").value(),
        Language::JsonPath);
    EXPECT_EQ(condition->variables(), (std::vector<std::string>{"v", "w"}));
    EXPECT_EQ(Condition::compile(value::parse_json(R"({"Variable": "$.a", "a/b~": 1})").value(),
                                 Language::JsonPath)
                  .error()[0]
                  .pointer,
              "/a~1b~0");
}

TEST(Choice, EvaluatesJsonataConditions) {
    auto queried = [](std::string_view rule) {
        return decided(rule, R"({"a": 5})", Language::Jsonata);
    };
    EXPECT_EQ(queried(R"({"Condition": "{% $states.input.a > 4 %}", "Next": "X"})"), "true");
    EXPECT_EQ(queried(R"({"Condition": false})"), "false");
    EXPECT_EQ(
        queried(R"({"Condition": "{% $states.input.a %}"})"),
        "States.QueryEvaluationError: The JSONata expression '$states.input.a' specified for the "
        "field 'Choices[0]/Condition' returned an unexpected result type. Expected 'boolean', "
        "but was 'number' for value: 5");
    EXPECT_EQ(queried(R"({"Condition": 1})"),
              "/Condition: The value for the field 'Condition' must be "
              "a boolean or a JSONata expression");
    EXPECT_EQ(queried(R"({"Next": "X"})"), ": The field 'Condition' is required but was missing");
}

TEST(Choice, RefusesRulesThatAreNone) {
    for (const auto* rule : {"1",
                             "{}",
                             R"({"Variable": "$.a"})",
                             R"({"StringEquals": "x"})",
                             R"({"Variable": "$.a", "StringEquals": 1})",
                             R"({"Variable": "$.a", "NumericEquals": "1"})",
                             R"({"Variable": "$.a", "TimestampEquals": "2012-10-09"})",
                             R"({"Variable": "$.a", "BooleanEquals": "true"})",
                             R"({"Variable": "$.a", "IsNull": 1})",
                             R"({"Variable": "$.a", "StringEqualsPath": "x"})",
                             R"({"Variable": "$.a[*]", "IsNull": true})",
                             R"({"Variable": "$.a", "BooleanLessThan": true})",
                             R"({"Variable": "$.a", "StringNope": ""})",
                             R"({"Variable": "$.a", "StringMatchesPath": "$.b"})",
                             R"({"Variable": 1, "IsNull": true})",
                             R"({"Variable": "$.a", "StringEquals": "x", "IsNull": true})",
                             R"({"And": []})",
                             R"({"And": {}})",
                             R"({"Not": []})",
                             R"({"Or": [{"Variable": "$.a"}]})"}) {
        EXPECT_FALSE(Condition::compile(value::parse_json(rule).value(), Language::JsonPath))
            << rule;
    }
    EXPECT_EQ(
        decided(R"({"Or": [{"Variable": "$.a", "IsNull": true}, {"Not": {"Variable": "a"}}]})",
                "{}"),
        "/Or/1/Not: A rule must have a comparison operator, And, Or or Not");
}

TEST(Choice, RefusesRulesThatAreTooDeep) {
    auto rule = value::parse_json(R"({"Variable": "$.a", "IsNull": true})").value();
    for (auto level = 0; level < 10'000; ++level) {
        rule = Value::object({{"Not", rule}});
    }

    EXPECT_FALSE(Condition::compile(rule, Language::JsonPath));
}

} // namespace
} // namespace sluice::expr::states
