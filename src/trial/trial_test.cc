#include "trial/trial.h"

#include <gtest/gtest.h>

#include "workflow/dag/compile.h"
#include "workflow/dag/parse.h"
#include "workflow/dag/vocabulary.h"
#include "workflow/raw/compile.h"
#include "workflow/raw/parse.h"

namespace sluice::trial {

namespace {

namespace dag = workflow::dag;
namespace raw = workflow::raw;

class TrialTest : public ::testing::Test {
protected:
    TrialTest() { dag::add_vocabulary(vocabulary_, operators_); }

    void define(const std::string& yaml) {
        auto document = raw::parse(yaml, "definition.yaml");
        auto compiled = dag::is_dag(document->form) ? dag::compile(document->form, operators_)
                                                    : raw::compile(*document);
        subject_ = Subject{.name = compiled.name,
                           .definitions = {},
                           .functions = compiled.functions,
                           .input = compiled.input};
        compiled.nested.push_back(compiled);
        for (const auto& each : compiled.nested) {
            subject_.definitions.push_back(
                {.name = each.name, .language = each.language, .form = each.form, .source = {}});
        }
    }

    /// What differs in the only case of a file, line by line.
    std::string differences(const std::string& yaml) {
        auto tests = parse_tests("definition: x\ncases:\n  - name: only\n" + yaml, "test.yaml");
        if (!tests) {
            return raw::to_text(tests.error().front());
        }
        verdict_ = try_case(subject_, tests->cases.front(), vocabulary_, limits_);
        auto text = std::string{};
        for (const auto& each : verdict_.differences) {
            text += (text.empty() ? "" : "\n") + to_text(each);
        }
        return text;
    }

    dag::Operators operators_ = dag::built_in_operators();
    trigger::Vocabulary vocabulary_;
    Subject subject_;
    Limits limits_;
    Verdict verdict_;
};

const auto* const waiting = R"(
name: waiting
tasks:
  wait: {wait: 30d}
  work: {call: work, after: wait, input: {n: "${input.n}"}, retry: {attempts: 3, interval: 1m}}
result: ${tasks.work.result}
)";

const auto* const plain = R"(
name: plain
triggers:
  - id: join
    on: item
    condition: {count: 2}
    action: {invoke: {function: work, input: "${data}"}}
  - id: done
    on: sluice.task.succeeded
    action: {finish: {result: "${data.result}"}}
)";

} // namespace

TEST_F(TrialTest, AMonthTakesNoTime) {
    define(waiting);

    EXPECT_EQ(differences(R"(
    input: {n: 5}
    functions: {work: {result: {sum: 7}}}
    expect:
      result: {sum: 7}
      tasks: {wait: succeeded, work: succeeded}
      calls: {work: {count: 1, inputs: [{n: 5}]}}
      order: [work]
      duration: 30d
)"),
              "");
    EXPECT_EQ(verdict_.duration, std::chrono::days{30});
}

TEST_F(TrialTest, TellsWhatDiffersPathByPath) {
    define(waiting);

    EXPECT_EQ(differences(R"(
    input: {n: 5}
    functions: {work: {result: {sum: 7, list: [1, 2], more: x}}}
    expect:
      result: {sum: 8, list: [1, 3], less: y}
      tasks: {wait: skipped, nothing: failed}
      calls: {work: {count: 2, inputs: [{n: 6}]}}
      order: [work, work]
      duration: {at_least: 31d, at_most: 1d}
)"),
              "result/sum: expected 8, got 7\n"
              "result/list/1: expected 3, got 2\n"
              "result/less: expected \"y\", got nothing\n"
              "result/more: expected nothing, got \"x\"\n"
              "calls/work: expected 2 calls, got 1\n"
              "calls/work/inputs/0/n: expected 6, got 5\n"
              "order: expected work, work, but work was not called behind those before it; the "
              "calls were work\n"
              "tasks/nothing: expected failed, got pending\n"
              "tasks/wait: expected skipped, got succeeded\n"
              "duration: expected at least 31d, got 30d\n"
              "duration: expected at most 1d, got 30d");
}

TEST_F(TrialTest, ComparesApart) {
    define(waiting);

    EXPECT_EQ(differences(R"(
    input: {n: 1}
    functions: {work: {result: {a: 1, b: {c: 2.0, d: 3}}}}
    expect: {result_has: {b: {c: 2}}}
)"),
              "");
}

TEST_F(TrialTest, AttemptsAreAnsweredInTurn) {
    define(waiting);

    EXPECT_EQ(differences(R"(
    input: {n: 1}
    functions: {work: [{error: busy}, {error: {kind: busy, message: still}}, {result: 3}]}
    expect: {result: 3, calls: {work: 3}, duration: 30d3m}
)"),
              "");
    EXPECT_EQ(differences(R"(
    input: {n: 1}
    tasks: {work: {attempts: [{error: busy}, {result: 2}]}}
    functions: {work: {result: 9}}
    expect: {result: 2, calls: {work: 2}, duration: 30d1m}
)"),
              "");
}

TEST_F(TrialTest, AFailureIsExpectedByItsError) {
    define(waiting);

    EXPECT_EQ(differences(R"(
    input: {n: 1}
    functions: {work: {error: {kind: broken, message: no luck}}}
    expect: {error: {task: work, cause: {kind: broken}}, tasks: {work: failed}}
)"),
              "");
    EXPECT_EQ(differences(R"(
    input: {n: 1}
    functions: {work: {error: {kind: broken, message: no luck}}}
    expect: {error: other}
)"),
              "error: expected the kind other, got task_failed because of broken");
    EXPECT_TRUE(differences(R"(
    input: {n: 1}
    functions: {work: {error: {kind: broken, message: no luck}}}
)")
                    .starts_with("status: expected succeeded, got failed: "));
}

TEST_F(TrialTest, RepliesAreChosenByInput) {
    define(R"(
name: each
tasks:
  each: {map: {over: [1, 2, 3], call: work, input: {n: "${item}"}}}
result: ${tasks.each.result}
)");

    EXPECT_EQ(differences(R"(
    functions:
      work: [{result: other}, {when: {n: 2}, result: two, delay: 1h}]
    expect: {result: [other, two, other], duration: 1h}
)"),
              "");
    EXPECT_EQ(differences(R"(
    functions:
      work: [{when: {n: 2}, error: broken}, {result: other}]
    expect: {error: broken, calls: {work: 3}}
)"),
              "");
    EXPECT_EQ(differences(R"(
    functions: {work: {when: {n: 2}, result: two}}
)"),
              "function \"work\" was called by task each with {\"n\":1}, which no reply is for: "
              "write one without `when`, or with one that this input has");
}

TEST_F(TrialTest, AnUnmockedFunctionIsNamed) {
    define(waiting);

    EXPECT_EQ(differences("    input: {n: 1}\n"),
              "function \"work\" was called with {\"n\":1} and is not mocked: write `functions: "
              "{work: {result: …}}` in the case");
    define("name: own\ntasks: {a b: {script: exit 1}}\n");
    EXPECT_EQ(differences(""),
              "function \"script:a b\" was called by task a b with null and is not mocked: write "
              "`tasks: {\"a b\": {result: …}}` in the case");
}

TEST_F(TrialTest, BuiltInFunctionsDoWhatTheyDo) {
    define(R"(
name: built-in
functions: {nap: {kind: builtin, builtin: sleep}}
tasks:
  nap: {call: nap, input: {duration: 8h}}
  say: {call: echo, after: nap, input: rested}
)");

    EXPECT_EQ(differences("    expect: {result: {say: rested}, duration: 8h}\n"), "");
    EXPECT_EQ(differences("    functions: {nap: {result: 1}, echo: {result: 2}}\n"
                          "    expect: {result: {say: 2}, duration: 0s}\n"),
              "");
}

TEST_F(TrialTest, WhatNeverAnswersTimesOut) {
    define(R"(
name: slow
tasks:
  work: {call: work, timeout: 10m, retry: {attempts: 1}}
)");

    EXPECT_EQ(differences("    functions: {work: {never: true}}\n"
                          "    expect: {tasks: {work: failed}, status: failed, duration: 10m}\n"),
              "");
    EXPECT_EQ(differences("    functions: {work: {result: 1, delay: 11m}}\n"
                          "    expect: {status: failed, duration: 10m}\n"),
              "");
}

TEST_F(TrialTest, ARunThatHangsSaysWhatItWaitsFor) {
    define("name: hangs\ntasks: {work: {call: work}, ask: {wait: {event: {type: go}}}}\n");

    auto text = differences("    functions: {work: {never: true}}\n");

    EXPECT_TRUE(text.starts_with("nothing is due any more and the run has not ended: ")) << text;
    EXPECT_TRUE(text.contains("ask is waiting")) << text;
    EXPECT_TRUE(text.contains("work, attempt 1, is under way")) << text;
}

TEST_F(TrialTest, ARunWithoutEndIsStopped) {
    define(R"(
name: endless
triggers:
  - {id: begin, on: sluice.run.started, action: {schedule: {timer: tick, every: 1m, type: tick}}}
  - {id: count, on: tick, lifetime: persistent}
)");
    limits_.moments = 100;

    EXPECT_TRUE(differences("    expect: {}\n").starts_with("the run has not ended after 1h40m"))
        << differences("");
}

TEST_F(TrialTest, MuchAtOnceIsDoneInTurns) {
    define(
        "name: many\ntasks: {all: {map: {over: 3000, call: work}}}\n"
        "result: ${size(tasks.all.result)}\n");

    EXPECT_EQ(differences("    functions: {work: {result: 1, delay: 1s}}\n"
                          "    expect: {result: 3000, calls: {work: 3000}, duration: 1s}\n"),
              "");

    define(
        "name: loop\ntriggers: [{id: a, on: [sluice.run.started, again], lifetime: persistent, "
        "action: {emit: again}}]\n");
    limits_.steps = 2;

    EXPECT_TRUE(differences("").starts_with("the run goes on without an end"));
}

TEST_F(TrialTest, EventsComeAtTheirTimes) {
    define(plain);

    EXPECT_EQ(differences(R"(
    events:
      - {type: item, data: 1, after: 2h}
      - {type: item, data: 2, after: 1d}
    functions: {work: {result: done}}
    expect: {result: done, fired: {join: 1, done: 1}, calls: {work: {inputs: [2]}}, duration: 1d}
)"),
              "");
    EXPECT_EQ(differences(R"(
    events: [{type: item}, {type: item}]
    functions: {work: {result: done}}
    expect: {fired: {join: 2}}
)"),
              "fired/join: expected 2 times, got 1");
}

TEST_F(TrialTest, PeopleApprove) {
    define(R"(
name: asked
tasks:
  wait: {wait: 1h}
  ask: {approve: {message: "sure?", form: {sum: integer}}, after: wait}
result: ${tasks.ask.result.form.sum}
)");

    EXPECT_EQ(differences("    approvals: [{task: ask, form: {sum: 3}}]\n"
                          "    expect: {result: 3, duration: 1h}\n"),
              "");
    EXPECT_EQ(differences("    approvals: [{task: ask, reject: true, after: 5h}]\n"
                          "    expect: {error: rejected, duration: 5h}\n"),
              "");
    EXPECT_TRUE(differences("    approvals: [{task: ask, form: {sum: many}}]\n")
                    .starts_with("approve ask was refused: "));
    EXPECT_TRUE(differences("    approvals: [{task: other}]\n")
                    .contains("ask is waiting: sure?; approve other was not said: the "
                              "task was never waiting"));
}

TEST_F(TrialTest, PeopleMendWhatIsHalted) {
    define(R"(
name: halted
tasks:
  load: {call: work, input: 1, on_error: halt, retry: {attempts: 1}}
  next: {call: echo, after: load, input: "${tasks.load.result}"}
result: ${tasks.next.result}
)");
    const auto* const replies = "    functions: {work: [{error: broken}, {result: 7}]}\n";

    EXPECT_EQ(
        differences(replies + std::string{"    mends: [{task: load, retry: true, after: 1h}]\n"
                                          "    expect: {result: 7, duration: 1h}\n"}),
        "");
    EXPECT_EQ(differences(replies + std::string{"    mends: [{task: load, result: 5}]\n"
                                                "    expect: {result: 5}\n"}),
              "");
    EXPECT_EQ(
        differences(
            replies +
            std::string{"    mends: [{task: load, skip: true}]\n"
                        "    expect: {status: failed, tasks: {load: skipped, next: skipped}}\n"}),
        "");
    EXPECT_TRUE(differences(replies).contains("load is halted: broken"));
}

TEST_F(TrialTest, TasksInItemsAreKnownByTheirPlaces) {
    define(R"(
name: items
tasks:
  tiles: {map: {over: [a, b], tolerate: 1, tasks: {load: {call: work, input: "${item}"}}}}
)");

    EXPECT_EQ(differences(R"(
    tasks: {tiles.load: [{when: b, error: broken}, {result: 1}]}
    expect: {tasks: {tiles: succeeded, tiles/0/load: succeeded, tiles/1/load: failed}}
)"),
              "");
}

TEST_F(TrialTest, NestedRunsAreTriedToo) {
    define(R"(
name: outer
definitions: {inner: {tasks: {work: {call: work}}, result: "${tasks.work.result}"}}
tasks: {sub: {subworkflow: inner}}
result: ${tasks.sub.result}
)");

    EXPECT_EQ(differences("    functions: {work: {result: deep, delay: 2s}}\n"
                          "    expect: {result: deep, duration: 2s}\n"),
              "");
}

TEST_F(TrialTest, StartsWhenTheCaseSays) {
    define("name: when\ntasks: {wait: {wait: {until: \"2030-01-02T00:00:00Z\"}}}\n");

    EXPECT_EQ(differences("    start: 2030-01-01T00:00:00Z\n    expect: {duration: 1d}\n"), "");
}

TEST_F(TrialTest, ARunIsCancelledAtItsTime) {
    define(R"(
name: slow
tasks:
  a: {wait: 1h}
)");

    EXPECT_EQ(differences(R"(
    cancel: 10s
    expect: {status: cancelled, duration: 10s})"),
              "");
    EXPECT_EQ(differences(R"(
    cancel: {after: 1m, reason: enough}
    expect: {status: cancelled, error: {message: enough}, duration: 1m})"),
              "");
    EXPECT_EQ(differences(R"(
    cancel: 2h
    expect: {duration: 1h})"),
              "");
}

TEST_F(TrialTest, WhatIsSentToSinksIsExpected) {
    define(R"(
name: telling
tasks:
  a: {emit: {type: order.paid, subject: "7", data: {sum: 3}, to: {sink: audit}}}
  b: {emit: {type: order.sent, to: {sink: audit}}, after: a}
)");

    EXPECT_EQ(differences(R"(
    expect:
      calls: {audit: 0}
      sent: {audit: {count: 2, events: [{type: order.paid, subject: "7", data: {sum: 3}}, {type: order.sent}]}, other: 0})"),
              "");
    EXPECT_EQ(differences(R"(
    expect: {sent: {audit: {count: 1, events: [{type: order.paid}, {type: order.lost}]}}})"),
              "sent/audit: expected 1 events, got 2\n"
              "sent/audit/events/1/type: expected \"order.lost\", got \"order.sent\"");
}

} // namespace sluice::trial
