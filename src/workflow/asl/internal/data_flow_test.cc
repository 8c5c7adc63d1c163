#include "workflow/asl/internal/data_flow.h"

#include <chrono>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "expr/states/testing/scene.h"
#include "value/json.h"

namespace sluice::workflow::asl::internal {
namespace {

using expr::states::testing::Scene;
using std::chrono::seconds;

const auto noon = Time{seconds{1'700'000'000}};

Selector path_to(std::string_view text, Selector::Kind kind = Selector::Kind::PathOrFunction) {
    return Selector::compile(text, kind).value();
}

Template query(std::string_view text) {
    return Template::compile(Value{text}, {.language = Language::Jsonata}).value();
}

std::string text_of(const Value& value) {
    return value::to_json(value);
}

std::string text_of(std::int64_t number) {
    return std::to_string(number);
}

std::string text_of(double number) {
    return fmt::format("{}", number);
}

std::string text_of(Time time) {
    return fmt::format("+{}", std::chrono::floor<seconds>(time - noon).count());
}

std::string text_of(const Failure& failure) {
    return fmt::format("{}/{}", failure.error.value_or("-"), failure.cause.value_or("-"));
}

/// What a step of the data flow gives, or its failure's error, cause and location.
template <typename T>
std::string told(const Flow<T>& flow) {
    if (flow) {
        return text_of(*flow);
    }
    const auto& [error, cause, location] = flow.error();
    return fmt::format("{}: {}{}", error.value_or("-"), cause.value_or("-"),
                       location.empty() ? "" : " @" + location);
}

/// Calls with a sight of the data; it is noon.
template <typename Step>
std::string seen(std::string_view data, Step step) {
    auto scene = Scene{data, "{}", R"({"v": 4})"};
    auto sight = scene.sight();
    sight.now = noon;
    return told(step(sight));
}

std::string placed(std::string_view path, std::string_view input) {
    auto result_path = ResultPath{.place = expr::jsonpath::ReferencePath::compile(path).value()};
    return told(place_result(result_path, value::parse_json(input).value(), Value{7}));
}

TEST(DataFlow, SelectsByPaths) {
    auto applied = [](const PathField& field) {
        return seen(R"({"a": 1})", [&](const Sight& sight) { return apply_path(field, sight); });
    };
    EXPECT_EQ(applied({}), R"({"a":1})");
    EXPECT_EQ(applied({.is_null = true}), "{}");
    EXPECT_EQ(applied({.path = path_to("$.a")}), "1");
    EXPECT_EQ(applied({.path = path_to("$v")}), "4");
    EXPECT_EQ(applied({.path = path_to("$.b")}),
              "States.Runtime: Invalid path '$.b' : No results for path: $['b']");
}

TEST(DataFlow, PlacesResults) {
    auto input = value::parse_json(R"({"a": 1})").value();

    EXPECT_EQ(told(place_result({}, input, Value{7})), "7");
    EXPECT_EQ(told(place_result({.is_discarded = true}, input, Value{7})), R"({"a":1})");
    EXPECT_EQ(placed("$.b", R"({"a": 1})"), R"({"a":1,"b":7})");
    EXPECT_EQ(placed("$.a", R"({"a": 1})"), R"({"a":7})");
    EXPECT_EQ(placed("$.x.y", "{}"), R"({"x":{"y":7}})");
    EXPECT_EQ(
        placed("$.a.b", R"({"a": 1})"),
        "States.ResultPathMatchFailure: Unable to apply ReferencePath $.a.b to input {\"a\":1}");
    EXPECT_EQ(placed("$.a", R"("text")"),
              "States.ResultPathMatchFailure: Unable to apply ReferencePath $.a to input \"text\"");
}

TEST(DataFlow, ReadsCounts) {
    auto counted = [](std::string_view data, NumberField number) {
        return seen(
            data, [&](const Sight& sight) { return read_count(number, "MaxConcurrency", sight); });
    };
    EXPECT_EQ(counted("{}", {5}), "5");
    EXPECT_EQ(counted(R"({"n": 3})", {path_to("$.n")}), "3");
    EXPECT_EQ(counted(R"({"n": 3})", {query("{% $states.input.n + 1 %}")}), "4");
    EXPECT_EQ(
        counted(R"({"n": "NoNumber"})", {path_to("$.n")}),
        "States.Runtime: The MaxConcurrencyPath field refers to value \"NoNumber\" which is not "
        "a valid integer: $.n");
    EXPECT_EQ(counted(R"({"n": {}})", {path_to("$.n")}),
              "States.Runtime: The MaxConcurrencyPath field refers to value \"{}\" which is not a "
              "valid integer: $.n");
    EXPECT_EQ(counted("{}", {path_to("$.n")}),
              "States.Runtime: Invalid path '$.n' : No results for path: $['n']");
    EXPECT_EQ(counted(R"({"n": -1})", {path_to("$.n")}),
              "States.Runtime: MaxConcurrency cannot be negative.");
    EXPECT_EQ(counted("{}", {query("{% 'x' %}")}),
              "States.QueryEvaluationError: The JSONata expression ''x'' specified for the field "
              "'MaxConcurrency' returned an unexpected result type. Expected 'integer', but was "
              "'string' for value: \"x\" @MaxConcurrency");
}

TEST(DataFlow, ReadsPercentages) {
    auto read = [](std::string_view data) {
        return seen(data, [](const Sight& sight) {
            return read_percentage({path_to("$.n")}, "ToleratedFailurePercentage", sight);
        });
    };
    EXPECT_EQ(read(R"({"n": 99.5})"), "99.5");
    EXPECT_EQ(read(R"({"n": 100})"), "100");
    EXPECT_EQ(read(R"({"n": 100.1})"),
              "States.Runtime: ToleratedFailurePercentage must be between 0 and 100.");
    EXPECT_EQ(read(R"({"n": -1})"),
              "States.Runtime: ToleratedFailurePercentage must be between 0 and 100.");
    EXPECT_EQ(
        read(R"({"n": {}})"),
        "States.Runtime: The ToleratedFailurePercentagePath field refers to value \"{}\" which "
        "is not a valid float: $.n");
}

std::string waited(std::string_view data, const WaitState& wait) {
    return seen(data, [&](const Sight& sight) { return read_wait(wait, sight); });
}

TEST(DataFlow, WaitsForSeconds) {
    auto by_path = WaitState{.seconds = {path_to("$.s")}};

    EXPECT_EQ(waited("{}", {.seconds = {10}}), "+10");
    EXPECT_EQ(waited(R"({"s": 0})", by_path), "+0");
    EXPECT_EQ(
        waited(R"({"s": 1.5})", by_path),
        "States.Runtime: The SecondsPath parameter cannot be parsed as a long value: $.s == 1.5");
    EXPECT_EQ(waited(R"({"s": -1})", by_path),
              "States.Runtime: The SecondsPath parameter references a negative value: $.s == -1");
    EXPECT_EQ(waited("{}", by_path),
              "States.Runtime: The SecondsPath parameter does not reference an input value: $.s");
    EXPECT_EQ(waited(R"({"s": 2147483648})", by_path),
              "States.Runtime: Wait state delay is too long.");
    EXPECT_EQ(waited("{}", {.seconds = {query("{% 1 + 1 %}")}}), "+2");
}

TEST(DataFlow, WaitsForTimes) {
    auto by_path = WaitState{.timestamp = path_to("$.t")};

    EXPECT_EQ(waited("{}", {.timestamp = "2023-11-14T22:13:30Z"}), "+10");
    EXPECT_EQ(waited(R"({"t": "2016-03-05T21:29:29.243167252Z"})", by_path), "+0");
    EXPECT_EQ(waited(R"({"t": "2023-11-15T00:13:25+02:00"})", by_path), "+5");
    EXPECT_EQ(waited(R"({"t": "9999-01-01T00:00:00Z"})", by_path),
              "States.Runtime: Wait state delay is too long.");
    EXPECT_EQ(waited(R"({"t": "2016-12-05 21:29:29Z"})", by_path),
              "States.Runtime: The TimestampPath parameter does not reference a valid ISO-8601 "
              "extended offset date-time format string: $.t == 2016-12-05 21:29:29Z");
    EXPECT_EQ(waited("{}", by_path),
              "States.Runtime: The TimestampPath parameter does not reference an input value: $.t");
    EXPECT_EQ(waited("{}", {.timestamp = query("{% '2016-12-05' %}")}),
              "States.QueryEvaluationError: The Timestamp field cannot be parsed as an ISO-8601 "
              "extended offset date-time format string: 2016-12-05 @Timestamp");
    EXPECT_EQ(waited("{}", {.timestamp = query("{% '2023-11-14T22:13:27Z' %}")}), "+7");
}

std::string iterated(std::string_view data, const MapState& map, Language language) {
    return seen(data, [&](const Sight& sight) { return read_items(map, language, sight); });
}

TEST(DataFlow, ReadsItemsByPath) {
    auto by_path = MapState{.items_path = path_to("$.x.l")};

    EXPECT_EQ(iterated("[1]", {}, Language::JsonPath), "[1]");
    EXPECT_EQ(iterated(R"({"x": {"l": [1, 2]}})", by_path, Language::JsonPath), "[1,2]");
    EXPECT_EQ(iterated(R"({"x": {"l": {"a": 1}}})", by_path, Language::JsonPath), R"({"a":1})");
    EXPECT_EQ(iterated("5", {}, Language::JsonPath),
              "States.Runtime: Reference path \"$\" must point to array.");
    EXPECT_EQ(
        iterated(R"({"x": {"n": 1}})", by_path, Language::JsonPath),
        "States.ReferencePathConflict: Unable to apply step \"l\" to input {\"x\":{\"n\":1}}");
}

TEST(DataFlow, ReadsItemsByExpression) {
    EXPECT_EQ(iterated("[1]", {}, Language::Jsonata), "[1]");
    EXPECT_EQ(iterated("\"text\"", {}, Language::Jsonata),
              "States.QueryEvaluationError: Map state input must be an array but was: \"text\"");
    EXPECT_EQ(iterated("{}", {.items = query("{% [1..3] %}")}, Language::Jsonata), "[1,2,3]");
    EXPECT_EQ(
        iterated("{}", {.items = query("{% 1 %}")}, Language::Jsonata),
        "States.QueryEvaluationError: The JSONata expression '1' specified for the field 'Items' "
        "returned an unexpected result type. Expected 'array', but was 'number' for value: 1 "
        "@Items");
}

TEST(DataFlow, ReadsErrorsAndCauses) {
    auto failed = [](std::string_view data, const FailState& fail) {
        return seen(data, [&](const Sight& sight) { return read_failure(fail, sight); });
    };
    EXPECT_EQ(failed("{}", {}), "-/-");
    EXPECT_EQ(failed("{}", {.error = "E", .cause = query("{% 'c' & 1 %}")}), "E/c1");
    EXPECT_EQ(failed(R"({"e": "X"})",
                     {.error = path_to("$.e"), .cause = path_to("States.Format('{}', $.e)")}),
              "X/X");
    EXPECT_EQ(failed("{}", {.error = path_to("$.e")}),
              "States.Runtime: The JSONPath '$.e' specified for the field 'ErrorPath' could not be "
              "found in the input '{}'");
    EXPECT_EQ(failed(R"({"e": 1})", {.error = path_to("$.e")}),
              "States.Runtime: The ErrorPath parameter does not reference a string: $.e == 1");
}

} // namespace
} // namespace sluice::workflow::asl::internal
