#include "workflow/dag/draw.h"

#include <gtest/gtest.h>

#include "graph/writers.h"
#include "value/json.h"
#include "workflow/dag/compile.h"
#include "workflow/raw/parse.h"

namespace sluice::workflow::dag {

namespace {

std::vector<Value> drawn_triggers(const std::string& yaml) {
    auto document = raw::parse(yaml, "test.yaml");
    auto compiled = compile(document->form, built_in_operators());
    auto triggers = std::vector<Value>{};
    for (const auto& trigger : compiled.form.find("triggers")->as_list()) {
        triggers.push_back(Value::object({{"trigger", trigger}}));
    }
    return triggers;
}

/// `from>to`, with the label behind; dashed edges with a dot.
std::vector<std::string> edges_of(const graph::Graph& drawn) {
    auto edges = std::vector<std::string>{};
    for (const auto& edge : drawn.edges) {
        edges.push_back(drawn.nodes[edge.from].name +
                        (edge.line == graph::Line::Dashed ? ".>" : ">") +
                        drawn.nodes[edge.to].name + (edge.label.empty() ? "" : " " + edge.label));
    }
    return edges;
}

const auto* const routed = R"(
name: routed
tasks:
  route:
    branch: [{when: input.n > 1, go: slow}, {go: [fast]}]
  slow: {wait: 1h, after: route}
  fast: {call: echo, after: route, when: input.ok, catch: {on: [timeout], task: mend}}
  mend: {script: "true"}
  tiles:
    after: [slow, fast]
    rule: one_success
    map: {over: 3, tasks: {load: {call: echo}, cut: {emit: done, after: load}}}
)";

} // namespace

TEST(DagDraw, HasTasksWithWhatTheyComeAfter) {
    auto triggers = drawn_triggers(routed);

    auto drawn = draw("routed", triggers);

    EXPECT_TRUE(has_tasks(triggers));
    EXPECT_EQ(edges_of(drawn),
              (std::vector<std::string>{"route>slow input.n > 1", "route>fast otherwise",
                                        "fast.>mend error timeout", "slow>tiles", "fast>tiles",
                                        "load>cut"}));
    auto details = std::vector<std::string>{};
    for (const auto& node : drawn.nodes) {
        details.push_back(node.detail);
    }
    EXPECT_EQ(details,
              (std::vector<std::string>{"branch", "wait 1h", "call echo if input.ok", "script",
                                        "for each of 3, one_success", "call echo", "emit done"}));
    EXPECT_EQ(drawn.nodes[4].name, "tiles");
    EXPECT_EQ(drawn.nodes[5].parent, 4U);
}

TEST(DagDraw, OfARunHasStatuses) {
    auto triggers = drawn_triggers(routed);
    auto state = [](const char* status) {
        return Value::object({{"memory", Value::object({{"status", status}})}});
    };
    for (auto& each : triggers) {
        each = each.with("states", Value::list({}));
    }
    triggers[0] = triggers[0].with("states", Value::list({state("succeeded")}));
    triggers[5] = triggers[5].with("states", Value::list({state("failed"), state("running")}));

    auto drawn = draw("run", triggers);

    EXPECT_EQ(drawn.nodes[0].status, "succeeded");
    EXPECT_EQ(drawn.nodes[0].tone, graph::Tone::Good);
    EXPECT_EQ(drawn.nodes[1].status, "pending");
    EXPECT_EQ(drawn.nodes[5].status, "1 failed, 1 running");
    EXPECT_EQ(drawn.nodes[5].tone, graph::Tone::Bad);
}

} // namespace sluice::workflow::dag
