#include "expr/states/template.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr/states/testing/scene.h"
#include "value/json.h"

namespace sluice::expr::states {
namespace {

using ::testing::HasSubstr;
using testing::Scene;
using testing::told;

const auto order_scene =
    Scene{R"({"id": 7, "lines": [{"n": 2}, {"n": 3}], "who": "Ada"})",
          R"({"Execution": {"Name": "run-1"}})", R"({"rate": 1.5, "who": "Eve"})"};

std::string first_problem(const std::vector<TemplateProblem>& problems) {
    return problems.front().pointer + ": " + problems.front().message;
}

std::string filled(std::string_view form, Language language = Language::JsonPath,
                   std::string_view field = "Parameters") {
    auto made = Template::compile(value::parse_json(form).value(), {.language = language});
    return made ? told(made->evaluate(order_scene.sight(), field)) : first_problem(made.error());
}

std::string queried(std::string_view form, std::string_view field = "Output") {
    return filled(form, Language::Jsonata, field);
}

TEST(PayloadTemplate, ComputesKeysThatEndInADollar) {
    EXPECT_EQ(
        filled(R"form({"id.$": "$.id", "by": {"name.$": "$$.Execution.Name", "rate.$": "$rate"},
                         "all": [{"n.$": "$.lines[*].n"}, 1],
                         "text.$": "States.Format('{}-{}', $.who, $who)"})form"),
        R"({"id":7,"by":{"name":"run-1","rate":1.5},"all":[{"n":[2,3]},1],"text":"Ada-Eve"})");
}

TEST(PayloadTemplate, LeavesOtherStringsAlone) {
    EXPECT_EQ(filled(R"form({"a": "$.id", "b": "{% 1 %}", "c": "States.UUID()"})form"),
              R"form({"a":"$.id","b":"{% 1 %}","c":"States.UUID()"})form");
    EXPECT_EQ(filled(R"("$.id")"), R"("$.id")");
}

TEST(PayloadTemplate, SharesWhatIsConstant) {
    auto form = value::parse_json(R"({"a": [1, {"b": "a text that is not short"}]})").value();

    auto made = Template::compile(form, {});
    auto value = made->evaluate(order_scene.sight(), "Parameters").value();

    EXPECT_TRUE(made->is_constant());
    EXPECT_EQ(value.as_map().data(), form.as_map().data());
}

TEST(PayloadTemplate, SaysWhichFieldFindsNothing) {
    EXPECT_EQ(
        filled(R"({"a": {"b.$": "$.nope"}})"),
        "States.Runtime: The JSONPath '$.nope' specified for the field 'b.$' could not be found "
        R"(in the input '{"id":7,"lines":[{"n":2},{"n":3}],"who":"Ada"}')");
}

TEST(PayloadTemplate, ReadsAnIndexPastTheEndAsNull) {
    EXPECT_EQ(filled(R"({"a.$": "$.lines[5]", "b.$": "$.lines[-5]"})"), R"({"a":null,"b":null})");
    EXPECT_THAT(filled(R"({"a.$": "$.lines[5].n"})"), HasSubstr("could not be found"));
    EXPECT_THAT(filled(R"({"a.$": "$.who[0]"})"), HasSubstr("could not be found"));
    EXPECT_THAT(filled(R"form({"a.$": "States.Format('{}', $.lines[5])"})form"),
                HasSubstr("could not be found"));
}

TEST(PayloadTemplate, SaysWhereInTheContextItLooked) {
    EXPECT_EQ(filled(R"({"a.$": "$$.Nope"})"),
              "States.Runtime: The JSONPath '$$.Nope' specified for the field 'a.$' could not be "
              R"(found in the input '{"Execution":{"Name":"run-1"}}')");
    EXPECT_THAT(
        filled(R"form({"a.$": "States.Array($$.Nope)"})form"),
        HasSubstr("argument for the field '$.Nope' could not be found in the input '{\"id\""));
}

TEST(PayloadTemplate, RefusesWhatIsNoPath) {
    constexpr auto refusal = "must be a valid JSONPath or a valid intrinsic function call";
    EXPECT_THAT(filled(R"({"a.$": "id"})"), HasSubstr(refusal));
    EXPECT_THAT(filled(R"({"a.$": 1})"), HasSubstr(refusal));
    EXPECT_THAT(filled(R"form({"a.$": " States.Array(1)"})form"), HasSubstr(refusal));
    EXPECT_THAT(filled(R"({"a.$": "$.x", "a": 1})"), HasSubstr("given twice"));
    EXPECT_EQ(
        filled(R"({"x/y": [{"a.$": "$.["}]})"),
        "/x~1y/0: The value for the field 'a.$' must be a valid JSONPath or a valid intrinsic "
        "function call");
}

TEST(PayloadTemplate, DrawsAnotherNumberForEachPart) {
    auto pair =
        value::parse_json(filled(R"form({"a.$": "States.UUID()", "b.$": "States.UUID()"})form"))
            .value();
    auto again =
        value::parse_json(filled(R"form({"a.$": "States.UUID()", "b.$": "States.UUID()"})form"))
            .value();

    EXPECT_NE(*pair.find("a"), *pair.find("b"));
    EXPECT_EQ(pair, again);
}

TEST(JsonataTemplate, EvaluatesStringsBetweenMarks) {
    EXPECT_EQ(queried(R"("{% $states.input.id + $rate %}")"), "8.5");
    EXPECT_EQ(queried(R"({"sum": "{%$sum($states.input.lines.n)%}", "name":
                          "{% $states.context.Execution.Name %}", "list": [1, "{% $who %}"]})"),
              R"({"sum":5,"name":"run-1","list":[1,"Eve"]})");
    EXPECT_EQ(queried(R"([" {% 1 %}", "{% 1 %} ", "{%1", "$states.input", {"{% 1 %}": 1}])"),
              R"([" {% 1 %}","{% 1 %} ","{%1","$states.input",{"{% 1 %}":1}])");
    EXPECT_EQ(queried("null"), "null");
    EXPECT_EQ(queried(R"("{% $states %}")"),
              R"({"input":{"id":7,"lines":[{"n":2},{"n":3}],"who":"Ada"},)"
              R"("context":{"Execution":{"Name":"run-1"}}})");
}

TEST(JsonataTemplate, FailsInTheServicesWords) {
    EXPECT_EQ(
        queried(R"({"result": "{% $doesNotExist %}"})"),
        "States.QueryEvaluationError: The JSONata expression '$doesNotExist' specified for the "
        "field 'Output/result' returned nothing (undefined).");
    EXPECT_EQ(
        queried(R"({"a": [0, {"b": "{% $nope(1) %}"}]})"),
        "States.QueryEvaluationError: The JSONata expression '$nope(1)' specified for the field "
        "'Output/a[1]/b' threw an error during evaluation. T1006: Attempted to invoke a "
        "non-function");
    EXPECT_EQ(
        queried(R"("{% $f := function($x){$x} %}")", "Items"),
        "States.QueryEvaluationError: The JSONata expression '$f := function($x){$x}' specified "
        "for the field 'Items' returned an unsupported result type.");
    auto location = Template::compile(value::parse_json(R"({"a": "{% $x %}"})").value(),
                                      {.language = Language::Jsonata})
                        ->evaluate(order_scene.sight(), "Assign")
                        .error()
                        .location;
    EXPECT_EQ(location, "Assign/a");
}

TEST(JsonataTemplate, TellsWhatJsonataComplainsOf) {
    EXPECT_THAT(
        queried(R"("{% 1 + 'a' %}")"),
        HasSubstr(R"(T2002: The right side of the "+" operator must evaluate to a number)"));
    EXPECT_THAT(queried(R"("{% 1 < 'a' %}")"),
                HasSubstr(R"(T2009: The values 1 and "a" either side of operator "<" must be)"));
    EXPECT_THAT(queried(R"("{% $error('my words') %}")"), HasSubstr("D3137: my words"));
}

TEST(JsonataTemplate, TellsOfAnUnexpectedType) {
    auto items = Template::compile(Value{"{% $v %}"}, {.language = Language::Jsonata});

    auto failure =
        unexpected_type(*items, "Items", "array", value::parse_json(R"({"a":"b"})").value());

    EXPECT_EQ(failure.cause,
              "The JSONata expression '$v' specified for the field 'Items' returned an "
              "unexpected result type. Expected 'array', but was 'object' for value: "
              R"({"a":"b"})");
    EXPECT_EQ(failure.location, "Items");
}

TEST(JsonataTemplate, HasTheAddedFunctions) {
    EXPECT_EQ(queried(R"("{% $partition([1,2,3,4,5], 2) %}")"), "[[1,2],[3,4],[5]]");
    EXPECT_EQ(queried(R"("{% $partition([0], 1) %}")"), "[[0]]");
    EXPECT_EQ(queried(R"("{% $range(0, 10, 3) %}")"), "[0,3,6,9]");
    EXPECT_EQ(queried(R"("{% $range(1, 9, 9) %}")"), "1");
    EXPECT_EQ(queried(R"("{% $hash('input data', 'SHA-1') %}")"),
              R"("aaff4a450a104cd177d28d18d74485e8cae074b7")");
    EXPECT_EQ(queried(R"("{% $parse('{\"a\": [1, -0]}') %}")"), R"({"a":[1,0]})");
    EXPECT_EQ(queried(R"("{% $random(3) = $random(3) %}")"), "true");
    EXPECT_EQ(queried(R"("{% $random() = $random() %}")"), "false");
    EXPECT_EQ(queried(R"("{% $length($uuid()) %}")"), "36");
    EXPECT_THAT(queried(R"("{% $eval('1') %}")"), HasSubstr("T1006"));
    EXPECT_THAT(queried(R"("{% $parse('{') %}")"), HasSubstr("threw an error"));
    EXPECT_THAT(queried(R"("{% $partition([1], 'x') %}")"), HasSubstr("T0410"));
}

TEST(JsonataTemplate, TakesItsTimeFromTheSight) {
    auto sight = order_scene.sight();
    sight.now = Time{std::chrono::seconds{1}};
    auto now = Template::compile(Value{"{% $now() %}"}, {.language = Language::Jsonata});

    EXPECT_EQ(told(now->evaluate(sight, "Output")), R"("1970-01-01T00:00:01.000Z")");
}

TEST(JsonataTemplate, ShowsResultsOnlyWhereThereAreSome) {
    auto form = Value{"{% $states.result.a %}"};
    auto result = value::parse_json(R"({"a": 5})").value();
    auto sight = order_scene.sight();
    sight.result = &result;

    auto made = Template::compile(form, {.language = Language::Jsonata, .has_result = true});

    EXPECT_EQ(told(made->evaluate(sight, "Output")), "5");
    EXPECT_FALSE(Template::compile(form, {.language = Language::Jsonata}));
    EXPECT_FALSE(Template::compile(Value{"{% $states.errorOutput %}"},
                                   {.language = Language::Jsonata, .has_result = true}));
    EXPECT_THAT(queried(R"({"a": "{% 1 + %}"})"), HasSubstr("/a: The JSONata expression '1 +'"));
}

TEST(Template, TellsTheVariablesThatItReads) {
    auto paths = Template::compile(
        value::parse_json(R"form({"a.$": "$x.y", "b.$": "States.Array($y, $x)", "c": "$z"})form")
            .value(),
        {});
    auto query = Template::compile(value::parse_json(R"(["{% $a + $b.c %}", "{% $a %}"])").value(),
                                   {.language = Language::Jsonata});

    EXPECT_EQ(paths->variables(), (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(query->variables(), (std::vector<std::string>{"a", "b"}));
}

TEST(Template, RefusesFormsThatAreTooDeep) {
    auto form = Value{1};
    for (auto level = 0; level < 10'000; ++level) {
        form = Value::list({form});
    }

    EXPECT_FALSE(Template::compile(form, {}));
}

} // namespace
} // namespace sluice::expr::states
