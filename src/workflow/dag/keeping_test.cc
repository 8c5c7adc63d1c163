#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workflow/dag/check.h"
#include "workflow/dag/compile.h"
#include "workflow/dag/vocabulary.h"
#include "workflow/raw/parse.h"

namespace sluice::workflow::dag {
namespace {

/// How the results of tasks may be kept: by reference (`kept`, `root`) or by value (nothing).
class KeepingTest : public ::testing::Test {
protected:
    KeepingTest() { add_vocabulary(vocabulary_, operators_); }

    void compile(const std::string& yaml) {
        auto document = raw::parse("name: d\n" + yaml, "d.yaml");
        ASSERT_TRUE(document) << raw::to_text(document.error().front());
        for (const auto& finding : check(*document, operators_, vocabulary_)) {
            ADD_FAILURE() << raw::to_text(finding);
        }
        set_ = dag::compile(document->form, operators_).form;
    }

    std::string of(std::string_view task) const {
        for (const auto& trigger : set_.find("triggers")->as_list()) {
            if (*trigger.find("id") == Value{task}) {
                const auto* large = trigger.find("action")->find("dag.task")->find("large");
                return large == nullptr ? "" : std::string{large->as_string()};
            }
        }
        return "there is no such task";
    }

    Operators operators_ = built_in_operators();
    trigger::Vocabulary vocabulary_;
    Value set_;
};

TEST_F(KeepingTest, WhatIsHandedOnWholeMayBeKept) {
    compile(R"(
tasks:
  load: {call: echo}
  odd-name: {call: echo}
  unused: {call: echo}
  next: {call: echo, after: [load, odd-name, unused], input: {a: ["${tasks.load.result}"], b: '${ tasks["odd-name"].result }'}}
result: ${tasks.next.status}
)");

    EXPECT_EQ(of("load"), "kept");
    EXPECT_EQ(of("odd-name"), "kept");
    EXPECT_EQ(of("unused"), "kept");
    EXPECT_EQ(of("next"), "kept");
}

TEST_F(KeepingTest, WhatTheRunGivesMayBeKeptWhereNoOtherRunGetsIt) {
    compile("tasks: {a: {call: echo}, b: {call: echo, after: a}}");
    EXPECT_EQ(of("a"), "kept");
    EXPECT_EQ(of("b"), "root") << "the last tasks are the result";

    compile(
        "tasks: {a: {call: echo}, b: {call: echo, after: a}}\nresult: {x: '${tasks.a.result}'}");
    EXPECT_EQ(of("a"), "root");
    EXPECT_EQ(of("b"), "kept");

    compile("tasks: {a: {call: echo}}\nresult: ${size(tasks.a.result)}");
    EXPECT_EQ(of("a"), "");
}

TEST_F(KeepingTest, WhatAnExpressionLooksIntoIsKeptByValue) {
    for (const auto* next :
         {"{call: echo, input: '${tasks.a.result.size}'}",
          "{call: echo, input: 'got ${tasks.a.result}'}", "{call: echo, input: '${tasks.a}'}",
          "{call: echo, after: a, input: '${tasks[input.which].result}'}",
          "{call: echo, after: a, when: tasks.a.result > 1}", "{call: '${tasks.a.result}'}",
          "{map: {over: '${tasks.a.result}', call: echo}}",
          "{subworkflow: d, input: '${tasks.a.result}'}",
          "{emit: {type: t, data: '${tasks.a.result}'}}",
          "{wait: {event: {type: t, match: event.data == tasks.a.result}}, after: a}",
          "{map: {over: 3, tasks: {c: {call: echo, input: '${tasks.a.result + 1}'}}}, after: a}",
          "{map: {over: 3, tasks: {c: {call: echo}}, result: '${tasks.a.result}'}, after: a}",
          "{call: echo, after: a, expand: true}"}) {
        compile(std::string{"tasks:\n  a: {call: echo}\n  b: "} + next);
        EXPECT_EQ(of("a"), "") << next;
    }
    compile(
        "tasks:\n  a: {call: echo}\n  r: {branch: [{when: tasks.a.result > 1, go: b}], after: a}\n"
        "  b: {call: echo, after: r}");
    EXPECT_EQ(of("a"), "") << "the case of a branch";
    compile("lang: jsonata\ntasks: {a: {call: echo}, b: {call: echo, after: a}}");
    EXPECT_EQ(of("a"), "") << "JSONata is not looked through";
    compile(
        "tasks: {a: {call: echo, on_failure: {call: echo, input: '${result.id}'}}, b: {call: echo, "
        "after: a}}");
    EXPECT_EQ(of("a"), "") << "what undoes it";
}

TEST_F(KeepingTest, TheItemsOfAMapAreKeptAsItsListIs) {
    compile(R"(
tasks:
  tiles: {map: {over: 3, call: echo}}
  batches: {map: {over: 3, batch: 2, call: echo}}
  bodies: {map: {over: 3, tasks: {one: {call: echo}, two: {call: echo, input: "${tasks.one.result}"}}}}
  join: {call: echo, after: [tiles, batches, bodies], input: ["${tasks.tiles.result}", "${tasks.batches.result}"]}
)");

    EXPECT_EQ(of("tiles"), "kept");
    EXPECT_EQ(of("batches"), "") << "lists of batches are joined to one";
    EXPECT_EQ(of("bodies.one"), "kept");
    EXPECT_EQ(of("bodies.two"), "") << "a part of the map's result, which anyone may look into";
}

} // namespace
} // namespace sluice::workflow::dag
