#include "workflow/raw/draw.h"

#include <gtest/gtest.h>

#include "workflow/raw/parse.h"

namespace sluice::workflow::raw {

namespace {

graph::Graph drawn(const std::string& yaml) {
    auto document = parse(yaml, "test.yaml");
    auto triggers = std::vector<Value>{};
    for (const auto& trigger : document->form.find("triggers")->as_list()) {
        triggers.push_back(Value::object({{"trigger", trigger}}));
    }
    return draw("test", triggers);
}

std::vector<std::string> drawn_edges(const graph::Graph& graph) {
    auto edges = std::vector<std::string>{};
    for (const auto& edge : graph.edges) {
        edges.push_back(graph.nodes[edge.from].name + ">" + graph.nodes[edge.to].name + " " +
                        edge.label);
    }
    return edges;
}

} // namespace

TEST(RawDraw, LeadsFromWhatIsSentToWhatWaitsForIt) {
    auto graph = drawn(R"(
name: test
triggers:
  - id: begin
    on: sluice.run.started
    action:
      - invoke: {function: work, subject: "job/${item}", each: 3}
      - schedule: {timer: late, after: 1h}
      - emit: {type: told, to: {run: other}}
      - enable: more
  - {id: done, on: {type: sluice.task.succeeded, subject: job/*}, action: {emit: all.done}}
  - {id: bad, on: {type: sluice.task.failed, subject: job/7}}
  - {id: other, on: {type: sluice.task.failed, subject: elsewhere}}
  - {id: late, on: {type: sluice.timer.fired, subject: late}}
  - {id: more, on: [all.*, told], enabled: false}
  - {id: spy, intercept: {trigger: done, when: before}}
)");

    EXPECT_EQ(drawn_edges(graph),
              (std::vector<std::string>{"begin>done call work", "begin>bad call work fails",
                                        "begin>late timer late", "begin>more enables",
                                        "done>more all.done", "spy>done intercepts"}));
    EXPECT_EQ(graph.nodes[1].detail, "on sluice.task.succeeded job/*");
    EXPECT_EQ(graph.nodes[5].detail, "on all.*, told, disabled");
}

TEST(RawDraw, OfARunSaysWhatHasFired) {
    auto trigger = Value::object({{"id", "a"}, {"on", "x"}});
    auto state = Value::object({{"fired", 2}});
    auto shown = std::vector<Value>{
        Value::object({{"trigger", trigger}, {"states", Value::list({state, state})}}),
        Value::object({{"trigger", trigger.with("id", "b")}, {"states", Value::list({})}})};

    auto graph = draw("run", shown);

    EXPECT_EQ(graph.nodes[0].status, "fired 4 times");
    EXPECT_EQ(graph.nodes[1].status, "waits");
}

} // namespace sluice::workflow::raw
