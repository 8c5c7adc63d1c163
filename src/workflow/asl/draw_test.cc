#include "workflow/asl/draw.h"

#include <gtest/gtest.h>

#include "graph/writers.h"
#include "workflow/asl/compile.h"
#include "workflow/asl/testing/definitions.h"

namespace sluice::workflow::asl {
namespace {

std::vector<Value> triggers_of(std::string_view text) {
    auto compiled = compile(testing::form_of(text), {.name = "test"});
    auto triggers = std::vector<Value>{};
    for (const auto& trigger : compiled.form.find("triggers")->as_list()) {
        triggers.push_back(Value::object({{"trigger", trigger}}));
    }
    return triggers;
}

/// `from>to`, with the label behind; dashed edges with a dot.
std::vector<std::string> lines_of(const graph::Graph& drawn) {
    auto lines = std::vector<std::string>{};
    for (const auto& edge : drawn.edges) {
        lines.push_back(drawn.nodes[edge.from].name +
                        (edge.line == graph::Line::Dashed ? ".>" : ">") +
                        drawn.nodes[edge.to].name + (edge.label.empty() ? "" : " " + edge.label));
    }
    return lines;
}

const graph::Node& node_named(const graph::Graph& drawn, std::string_view name) {
    return *std::ranges::find(drawn.nodes, name, &graph::Node::name);
}

constexpr auto shop = std::string_view{R"({"StartAt": "Route", "States": {
    "Route": {"Type": "Choice", "Default": "Pack", "Choices": [
        {"And": [{"Variable": "$.total", "NumericGreaterThan": 100},
                 {"Not": {"Variable": "$.vip", "BooleanEquals": true}}], "Next": "Ask"}]},
    "Ask": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
            "Catch": [{"ErrorEquals": ["A", "B"], "Next": "Refused"}], "Next": "Pack"},
    "Pack": {"Type": "Map", "ItemsPath": "$.items", "End": true, "ItemProcessor": {
        "StartAt": "Wrap", "States": {"Wrap": {"Type": "Wait", "Seconds": 5, "Next": "Label"},
                                      "Label": {"Type": "Succeed"}}}},
    "Refused": {"Type": "Fail", "Error": "Refused"}}})"};

TEST(AslDraw, HasStatesAndWhereTheyGo) {
    auto triggers = triggers_of(shop);

    auto drawn = draw("shop", triggers);

    EXPECT_TRUE(has_states(triggers));
    EXPECT_EQ(lines_of(drawn),
              (std::vector<std::string>{
                  "start>Route",
                  "Route>Ask ($.total NumericGreaterThan 100 and not $.vip BooleanEquals true)",
                  "Route>Pack otherwise", "Ask>Pack", "Ask.>Refused error A, B", "Pack>end",
                  "Refused>end", "Wrap>Label"}));
    EXPECT_EQ(node_named(drawn, "Ask").detail, "sqs:sendMessage.waitForTaskToken");
    EXPECT_EQ(node_named(drawn, "Wrap").detail, "wait 5 s");
    EXPECT_EQ(drawn.nodes[node_named(drawn, "Wrap").parent].name, "Pack");
}

TEST(AslDraw, SaysWhatStatesOfARunDo) {
    auto triggers = triggers_of(shop);
    for (auto& each : triggers) {
        if (*each.find("trigger")->find("id") == Value{"Ask"}) {
            each = each.with(
                "states",
                Value::list({Value::object({{"memory", Value::object({{"status", "waiting"}})}})}));
        }
    }

    auto drawn = draw("shop", triggers);

    EXPECT_EQ(node_named(drawn, "Ask").status, "waiting");
    EXPECT_EQ(node_named(drawn, "Ask").tone, graph::Tone::Waiting);
    EXPECT_EQ(node_named(drawn, "Pack").status, "");
}

TEST(AslDraw, DrawsNoMachineForOtherTriggers) {
    auto triggers = std::vector<Value>{
        Value::object({{"trigger", Value::object({{"id", "a"}, {"action", Value::object({})}})}})};

    EXPECT_FALSE(has_states(triggers));
}

} // namespace
} // namespace sluice::workflow::asl
