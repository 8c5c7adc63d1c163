#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "value/json.h"
#include "workflow/asl/check.h"
#include "workflow/asl/read.h"
#include "workflow/asl/testing/definitions.h"

namespace sluice::workflow::asl {
namespace {

/// Has every field of every state.
constexpr auto full_definition = std::string_view{R"j({
"Comment": "c", "Version": "1.0", "QueryLanguage": "JSONPath", "TimeoutSeconds": 9, "StartAt": "pass", "States": {
"pass": {"Type": "Pass", "Comment": "c", "QueryLanguage": "JSONPath", "InputPath": "$.a", "OutputPath": "$.b",
    "Parameters": {"a.$": "$.b", "c": [{"d.$": "States.Array(1, $.e)"}]}, "Result": {"a": [1]},
    "ResultPath": "$.c", "Assign": {"v.$": "$.d"}, "Next": "task"},
"task": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"a.$": "$.b"},
    "ResultSelector": {"a.$": "$.b"}, "TimeoutSeconds": 9, "HeartbeatSecondsPath": "$.h",
    "Credentials": {"RoleArn.$": "$.r"}, "Retry": [{"ErrorEquals": ["A"], "IntervalSeconds": 1, "MaxAttempts": 2,
    "BackoffRate": 1.5, "MaxDelaySeconds": 9, "JitterStrategy": "FULL", "Comment": "c"}],
    "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "fail", "ResultPath": "$.e", "Assign": {"w": 1}}],
    "Next": "choice"},
"choice": {"Type": "Choice", "Default": "wait", "Choices": [{"Or": [{"Variable": "$.a", "StringEquals": "x"},
    {"Not": {"Variable": "$.b", "NumericLessThanPath": "$.c"}}], "Next": "succeed", "Assign": {"x": 1}}]},
"wait": {"Type": "Wait", "SecondsPath": "$.s", "Next": "until"},
"until": {"Type": "Wait", "QueryLanguage": "JSONata", "Timestamp": "{% $states.input.t %}", "Output": {"a": "{% 1 %}"},
    "Next": "parallel"},
"parallel": {"Type": "Parallel", "QueryLanguage": "JSONata", "Arguments": {"a": "{% 1 %}"}, "Branches": [
    {"StartAt": "b", "Comment": "c", "States": {"b": {"Type": "Succeed", "QueryLanguage": "JSONata", "Output": 1}}}],
    "Catch": [{"ErrorEquals": ["A"], "Next": "fail", "Output": "{% $states.errorOutput %}"}], "Next": "map"},
"map": {"Type": "Map", "ItemsPath": "$.i", "ItemSelector": {"a.$": "$$.Map.Item.Value"}, "MaxConcurrency": 2,
    "Label": "l", "ToleratedFailureCount": 1, "ToleratedFailurePercentagePath": "$.p",
    "ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "Parameters": {"Bucket": "b", "Key.$": "$.k"},
        "ReaderConfig": {"InputType": "CSV", "CSVHeaderLocation": "GIVEN", "CSVHeaders": ["a"], "CSVDelimiter": "TAB",
        "MaxItems": 1, "ItemsPointer": "/a", "ManifestType": "ATHENA_DATA", "Transformation": "NONE"}},
    "ItemBatcher": {"MaxItemsPerBatch": 1, "MaxInputBytesPerBatchPath": "$.b", "BatchInput": {"a.$": "$.b"}},
    "ResultWriter": {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket": "b"},
        "WriterConfig": {"Transformation": "NONE", "OutputType": "JSON"}},
    "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "i",
        "States": {"i": {"Type": "Pass", "End": true}}}, "Next": "items"},
"items": {"Type": "Map", "QueryLanguage": "JSONata", "Items": "{% $states.input.i %}",
    "ItemProcessor": {"StartAt": "j", "States": {"j": {"Type": "Pass", "End": true}}}, "Next": "succeed"},
"succeed": {"Type": "Succeed", "InputPath": "$.a", "OutputPath": null},
"fail": {"Type": "Fail", "Error": "E", "CausePath": "$.c"}}})j"};

/// Calls `take` with the form once for each value in it, that value replaced.
void each_replaced(const Value& form, const Value& other,
                   const std::function<void(const Value&)>& take) {
    take(other);
    if (form.is_list()) {
        for (auto at = std::size_t{0}; at < form.size(); ++at) {
            each_replaced(form.as_list()[at], other, [&](const Value& item) {
                auto items = std::vector<Value>(form.as_list().begin(), form.as_list().end());
                items[at] = item;
                take(Value::list(std::move(items)));
            });
        }
    } else if (form.is_map()) {
        for (const auto& [key, member] : form.as_map()) {
            each_replaced(member, other,
                          [&](const Value& changed) { take(form.with(key, changed)); });
        }
    }
}

TEST(AslWrongTypes, TheFullDefinitionIsRight) {
    EXPECT_EQ(testing::problems_of(full_definition), "");
}

TEST(AslWrongTypes, AnyValueAnywhereIsReadOrRefused) {
    auto form = testing::form_of(full_definition);
    auto count = std::size_t{0};
    for (const auto& other : {Value{}, Value{-1.5}, Value{"{% ( %}"}, Value{"$.."},
                              Value::list({Value{}}), Value::object({{"a.$", Value::list({})}})}) {
        each_replaced(form, other, [&](const Value& changed) {
            auto machine = read(changed);
            count += machine || !machine.error().empty() ? 1 : 0;
        });
    }

    EXPECT_GT(count, 1000U);
}

TEST(AslWrongTypes, AMemberLessIsReadOrRefused) {
    auto form = testing::form_of(full_definition);
    const auto gone = Value{"(gone)"};
    auto without_gone = [&](const Value& map) {
        auto kept = map;
        for (const auto& [key, member] : map.as_map()) {
            kept = member == gone ? kept.without(key) : kept;
        }
        return kept;
    };

    for (const auto& [name, state] : form.find("States")->as_map()) {
        each_replaced(state, gone, [&](const Value& changed) {
            if (changed.is_map()) {
                auto states = form.find("States")->with(name, without_gone(changed));
                auto machine = read(form.with("States", states));
                EXPECT_TRUE(machine || !machine.error().empty());
            }
        });
    }
}

} // namespace
} // namespace sluice::workflow::asl
