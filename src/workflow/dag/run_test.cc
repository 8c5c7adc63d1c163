#include <gmock/gmock.h>

#include "workflow/dag/testing/flow_run.h"

namespace sluice::workflow::dag {
namespace {

using ::testing::ElementsAre;
using testing::FlowRun;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TaskTest : public FlowRun {};

constexpr auto diamond = R"(
name: diamond
tasks:
  a: {call: f, input: {n: "${input.n}"}}
  b: {call: f, after: a, input: "${tasks.a.result + 1}"}
  c: {call: g, after: [a], input: {from: "${tasks.a.result}"}}
  d: {call: h, after: [b, c], input: ["${tasks.b.result}", "${tasks.c.result}"]}
)";

TEST_F(TaskTest, BeginsWhenThoseBeforeItHaveEnded) {
    start(diamond, R"({"n":7})");
    EXPECT_THAT(calls(), ElementsAre("a: f"));
    EXPECT_EQ(input_of("a"), Value::object({{"n", 7}}));

    answer("a", 1);
    EXPECT_THAT(calls(), ElementsAre("b: f", "c: g"));
    EXPECT_EQ(input_of("b"), Value{2});
    answer("c", "c");
    EXPECT_THAT(calls(), ElementsAre("b: f"));
    answer("b", "b");
    EXPECT_EQ(input_of("d"), Value::list({"b", "c"}));
    EXPECT_FALSE(state_.has_ended());
    answer("d", "end");

    EXPECT_TRUE(has_succeeded());
    EXPECT_EQ(result(), R"({"d":"end"})");
}

std::string many(int count) {
    auto text = std::string{"name: many\nfail_fast: true\ntasks:\n"};
    for (auto at = 0; at < count; ++at) {
        text += fmt::format("  t{}: {{call: f}}\n", at);
    }
    return text;
}

TEST_F(TaskTest, BeginsInGroupsWhereManyWaitForNothing) {
    takes_turns_ = false;
    start(many(100));
    EXPECT_EQ(calls().size(), 32U);
    EXPECT_EQ(calls().front(), "t0: f");

    decider().take_turn(moment_);
    EXPECT_EQ(calls().size(), 96U);
    decider().take_turn(moment_);
    EXPECT_EQ(calls().size(), 100U);
    EXPECT_FALSE(state_.has_work());

    answer_all();
    EXPECT_TRUE(has_succeeded());
    EXPECT_EQ(state_.progress.result.size(), 100U);
}

TEST_F(TaskTest, BeginsWhenARunIsOpenedAgainThatEndedBeforeIt) {
    takes_turns_ = false;
    start(many(100));
    decider().take_turn(moment_);
    answer("t1");
    fail("t3");
    ASSERT_TRUE(has_failed());

    takes_turns_ = true;
    reopen();
    EXPECT_EQ(calls().size(), 99U);
    answer_all();
    EXPECT_TRUE(has_succeeded());
}

TEST_F(TaskTest, BeginsOnceThoughItIsRestartedBeforeItsGroup) {
    takes_turns_ = false;
    start(many(100));
    fail("t3");
    takes_turns_ = true;
    reopen(Value::object({{"task", "t99"}}));
    EXPECT_EQ(std::ranges::count(calls(), "t99: f"), 1);
    EXPECT_EQ(calls().size(), 68U); // The others of the first group are restarted by name.
}

TEST_F(TaskTest, ComesBehindTheTasksItNames) {
    start(R"(
name: named
tasks:
  one: {call: f}
  two: {call: f, input: "${tasks.one.result}"}
result: {two: "${tasks.two.result}", at: "${run.id}"}
)");
    EXPECT_THAT(calls(), ElementsAre("one: f"));

    answer("one", 5);
    EXPECT_EQ(input_of("two"), Value{5});
    answer("two", 6);

    EXPECT_EQ(result(), R"({"two":6,"at":"run"})");
}

TEST_F(TaskTest, LetsTheRestEndBeforeTheRunFails) {
    start(diamond, R"({"n":7})");
    answer("a", 1);

    fail("b", "timeout");
    EXPECT_FALSE(state_.has_ended());
    EXPECT_EQ(status("d"), "pending");
    answer("c");

    EXPECT_TRUE(has_failed());
    EXPECT_EQ(error("kind"), "task_failed");
    EXPECT_EQ(error("task"), "b");
    EXPECT_EQ(error("message"), "task \"b\" failed: it broke");
}

TEST_F(TaskTest, FailsAtOnceIfTheDefinitionSaysSo) {
    start(R"(
name: hasty
fail_fast: true
tasks:
  a: {call: f}
  b: {call: f}
)");

    fail("a");

    EXPECT_TRUE(has_failed());
    EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(TaskTest, AFaultyExpressionFailsItsTask) {
    start(R"(
name: faulty
tasks:
  a: {call: f, input: "${input.missing}"}
)",
          "{}");

    EXPECT_TRUE(has_failed());
    EXPECT_THAT(error("cause"), HasSubstr("no_such_"));
}

TEST_F(TaskTest, SkipsByItsConditionAndThoseBehindIt) {
    start(R"(
name: skipping
tasks:
  a: {call: f, when: "input.n > 3"}
  b: {call: f, after: a}
  c: {call: f, after: [a], rule: all_done}
)",
          R"({"n":3})");

    EXPECT_EQ(status("a"), "skipped");
    EXPECT_EQ(status("b"), "skipped");
    EXPECT_THAT(calls(), ElementsAre("c: f"));
    answer("c", 1);

    EXPECT_EQ(result(), R"({"c":1})");
}

constexpr auto rules = R"(
name: rules
tasks:
  good: {call: f}
  bad: {call: f}
  idle: {call: f, when: "false || input.run"}
  all_success: {call: f, after: [good, bad], rule: all_success}
  all_done: {call: f, after: [good, bad, idle], rule: all_done}
  one_success: {call: f, after: [good, bad], rule: one_success}
  no_success: {call: f, after: [bad, idle], rule: one_success}
  none_failed: {call: f, after: [good, idle], rule: none_failed}
  some_failed: {call: f, after: [good, bad], rule: none_failed}
  two_of_three: {call: f, after: [good, bad, all_done], rule: {k_of_n: 2}}
  behind: {call: f, after: [some_failed, good], rule: none_failed}
)";

TEST_F(TaskTest, BeginsByItsRule) {
    start(rules, R"({"run":false})");
    EXPECT_EQ(status("idle"), "skipped");

    answer("good");
    EXPECT_EQ(status("one_success"), "running");
    EXPECT_EQ(status("none_failed"), "running");
    EXPECT_EQ(status("all_success"), "pending");
    fail("bad");

    EXPECT_EQ(status("all_success"), "upstream_failed");
    EXPECT_EQ(status("all_done"), "running");
    EXPECT_EQ(status("no_success"), "upstream_failed");
    EXPECT_EQ(status("some_failed"), "upstream_failed");
    EXPECT_EQ(status("behind"), "upstream_failed");
    EXPECT_EQ(status("two_of_three"), "pending");
    answer("all_done");
    EXPECT_EQ(status("two_of_three"), "running");
    answer_all();
    EXPECT_TRUE(has_failed());
    EXPECT_EQ(error("task"), "bad");
}

TEST_F(TaskTest, BranchesJoinWhenOneWasSkipped) {
    start(R"(
name: branches
tasks:
  route:
    branch:
      - {when: "input.n > 10", go: big}
      - {when: "${input.n > 5}", go: [middle, extra]}
      - {go: small}
  big: {call: f, after: route}
  middle: {call: f, after: route}
  extra: {call: f, after: route}
  small: {call: f, after: route}
  join: {call: g, after: [big, middle, extra, small], rule: none_failed}
)",
          R"({"n":7})");

    EXPECT_THAT(calls(), ElementsAre("middle: f", "extra: f"));
    EXPECT_EQ(status("big"), "skipped");
    answer("middle");
    answer("extra");
    EXPECT_THAT(calls(), ElementsAre("join: g"));
    answer("join", 1);

    EXPECT_EQ(result(), R"({"join":1})");
}

TEST_F(TaskTest, AHandlerTakesCareOfErrorsOfItsKinds) {
    constexpr auto yaml = R"(
name: handlers
tasks:
  load:
    call: f
    catch:
      - {on: [timeout, exit], task: slow}
      - {on: refused, task: other}
  slow: {call: g, input: "${tasks.load.error.kind}"}
  other: {call: g}
  next: {call: h, after: [load, slow, other], rule: one_success}
)";
    start(yaml);

    fail("load", "timeout");

    EXPECT_EQ(status("load"), "caught");
    EXPECT_EQ(input_of("slow"), Value{"timeout"});
    EXPECT_EQ(status("other"), "skipped");
    answer("slow");
    answer("next", 1);
    EXPECT_EQ(result(), R"({"next":1})");
}

TEST_F(TaskTest, AHandlerIsSkippedWhenAllIsWell) {
    start(R"(
name: well
tasks:
  load: {call: f, catch: clean}
  clean: {call: g}
  next: {call: h, after: [load, clean], rule: one_success}
)");

    answer("load");
    EXPECT_EQ(status("clean"), "skipped");
    answer("next", 1);

    EXPECT_TRUE(has_succeeded());
}

TEST_F(TaskTest, AnErrorNobodyHandlesFailsTheRun) {
    start(R"(
name: unhandled
tasks:
  load: {call: f, catch: {on: timeout, task: clean}}
  clean: {call: g}
)");

    fail("load", "exit");

    EXPECT_EQ(status("clean"), "skipped");
    EXPECT_TRUE(has_failed());
}

TEST_F(TaskTest, AFailedTaskMayBeSkipped) {
    start(R"(
name: lenient
tasks:
  a: {call: f, on_error: skip}
  b: {call: f, after: a, rule: none_failed, input: "${tasks.a.error.kind}"}
)");

    fail("a", "exit");
    EXPECT_EQ(input_of("b"), Value{"exit"});
    answer("b", 1);

    EXPECT_TRUE(has_succeeded());
}

constexpr auto halting = R"(
name: halting
tasks:
  a: {call: f, on_error: halt, input: "${input}"}
  b: {call: f, after: a, input: "${tasks.a.result}"}
)";

TEST_F(TaskTest, HaltsUntilAPersonLetsItGoOn) {
    start(halting, "1");

    fail("a");
    EXPECT_EQ(status("a"), "halted");
    EXPECT_THAT(calls(), IsEmpty());
    EXPECT_FALSE(state_.has_ended());
    EXPECT_EQ(command("task.retry", Value::object({{"task", "a"}})), trigger::Fate::Handled);

    EXPECT_EQ(input_of("a"), Value{1});
    answer("a", 2);
    EXPECT_EQ(input_of("b"), Value{2});
    answer("b", 3);
    EXPECT_EQ(result(), R"({"b":3})");
}

TEST_F(TaskTest, AHaltedTaskTakesOtherInputOrAResult) {
    start(halting, "1");
    fail("a");

    command("task.retry", Value::object({{"task", "a"}, {"input", 9}}));
    EXPECT_EQ(input_of("a"), Value{9});
    fail("a");
    command("task.set_result", Value::object({{"task", "a"}, {"result", 4}}));

    EXPECT_EQ(input_of("b"), Value{4});
    answer("b");
    EXPECT_TRUE(has_succeeded());
}

TEST_F(TaskTest, AHaltedTaskMayBeSkipped) {
    start(halting, "1");
    fail("a");

    command("task.skip", Value::object({{"task", "a"}}));

    EXPECT_TRUE(has_succeeded());
    EXPECT_EQ(result(), "{}");
}

TEST_F(TaskTest, CommandsSayWhatIsWrong) {
    start(halting, "1");

    EXPECT_EQ(command("task.retry", Value::object({{"task", "c"}})), trigger::Fate::Failed);
    EXPECT_THAT(refusal(), HasSubstr("there is no task \"c\""));
    answer("a");
    EXPECT_EQ(command("task.skip", Value::object({{"task", "a"}})), trigger::Fate::Failed);
    EXPECT_THAT(refusal(), HasSubstr("\"a\" is succeeded"));
}

TEST_F(TaskTest, BeginsAgainFromTheMiddle) {
    start(diamond, R"({"n":7})");
    answer("a", 1);
    answer("b", "b");
    answer("c", "c");
    EXPECT_THAT(calls(), ElementsAre("d: h"));

    command("task.retry", Value::object({{"task", "b"}, {"input", "other"}}));
    EXPECT_THAT(calls(), ElementsAre("b: f"));
    EXPECT_EQ(input_of("b"), Value{"other"});
    EXPECT_EQ(status("c"), "succeeded");
    EXPECT_EQ(status("d"), "pending");
    answer("b", "new");

    EXPECT_EQ(input_of("d"), Value::list({"new", "c"}));
    answer("d", 1);
    EXPECT_TRUE(has_succeeded());
}

TEST_F(TaskTest, AFailedRunGoesOnWhereItFailed) {
    start(diamond, R"({"n":7})");
    answer("a", 1);
    fail("b");
    answer("c", "c");
    ASSERT_TRUE(has_failed());

    reopen();
    EXPECT_THAT(calls(), ElementsAre("b: f"));
    answer("b", "b");
    answer("d", 1);

    EXPECT_TRUE(has_succeeded());
    EXPECT_EQ(result(), R"({"d":1})");
}

TEST_F(TaskTest, AFailedRunGoesOnFromANamedTask) {
    start(diamond, R"({"n":7})");
    answer("a", 1);
    fail("b");
    answer("c", "c");

    reopen(Value::object({{"task", "a"}, {"input", "again"}}));

    EXPECT_THAT(calls(), ElementsAre("a: f"));
    EXPECT_EQ(input_of("a"), Value{"again"});
    answer("a", 1);
    EXPECT_THAT(calls(), ElementsAre("b: f", "c: g"));
    answer_all();
    EXPECT_TRUE(has_succeeded());
}

TEST_F(TaskTest, AFailedRunMayFailAgain) {
    start(diamond, R"({"n":7})");
    answer("a", 1);
    fail("b");
    answer("c", "c");
    reopen();

    fail("b", "still");

    EXPECT_TRUE(has_failed());
    EXPECT_THAT(error("cause"), HasSubstr("still"));
}

TEST_F(TaskTest, NamesTheFirstOfTheFailedThatAreLeft) {
    start(R"(
name: many
tasks: {a: {call: f}, b: {call: f}, c: {call: f}, d: {call: f}, e: {call: f}, g: {call: f}, h: {call: f}}
)");
    for (const auto* task : {"h", "a", "g", "b", "e", "c", "d"}) {
        fail(task);
    }
    ASSERT_EQ(error("task"), "h");

    reopen(Value::object({{"task", "a"}}));
    fail("a");

    EXPECT_EQ(error("task"), "b");
    EXPECT_THAT(error("message"), HasSubstr("and 6 more"));
}

TEST_F(TaskTest, UndoesWhatSucceededInReverseOrder) {
    start(R"(
name: saga
tasks:
  flight: {call: f, on_failure: {call: g, input: "${result.id}"}}
  hotel: {call: f, after: flight, on_failure: {call: g, input: {hotel: "${tasks.hotel.result}"}}}
  note: {call: f, after: hotel}
  pay: {call: f, after: note}
)");
    answer("flight", Value::object({{"id", 1}}));
    answer("hotel", 2);
    answer("note", 3);

    fail("pay");
    EXPECT_THAT(calls(), ElementsAre("(end): g"));
    EXPECT_EQ(input_of("(end)"), Value::object({{"hotel", 2}}));
    EXPECT_FALSE(state_.has_ended());
    answer("(end)");
    EXPECT_EQ(input_of("(end)"), Value{1});
    fail("(end)", "cannot");

    EXPECT_TRUE(has_failed());
    EXPECT_EQ(error("task"), "pay");
    EXPECT_THAT(error("undo_error"), HasSubstr("cannot"));

    // What was undone is to be done again.
    reopen();
    EXPECT_THAT(calls(), ElementsAre("flight: f"));
    answer_all();
    EXPECT_TRUE(has_succeeded());
}

TEST_F(TaskTest, PassesItsDeadline) {
    start(R"(
name: late
tasks:
  a: {call: f, deadline: 10s, catch: b}
  b: {call: g, input: "${tasks.a.error.kind}"}
)");

    pass(std::chrono::seconds{9});
    EXPECT_EQ(status("a"), "running");
    pass(std::chrono::seconds{1});

    EXPECT_THAT(calls(), ElementsAre("b: g"));
    EXPECT_EQ(input_of("b"), Value{"timeout"});
    answer("b");
    EXPECT_TRUE(has_succeeded());
    EXPECT_TRUE(state_.timers.empty());
}

TEST_F(TaskTest, JsonataMayBeItsLanguage) {
    start(R"(
name: other
lang: jsonata
tasks:
  a: {call: f, when: "$input.n > 1", input: {sum: "${$sum($input.list)}", n: 1}}
  b: {call: f, after: a, input: "${$tasks.a.result & '!'}"}
)",
          R"({"n":2,"list":[1,2,3]})");

    EXPECT_EQ(input_of("a"), Value::object({{"sum", 6}, {"n", 1}}));
    answer("a", "x");
    EXPECT_EQ(input_of("b"), Value{"x!"});
    answer("b");
    EXPECT_TRUE(has_succeeded());
}

TEST_F(TaskTest, WaitsForATimeOrAnEvent) {
    start(R"(
name: waiting
tasks:
  pause: {wait: 10s}
  until: {wait: {until: "1970-01-01T00:01:00Z"}}
  paid: {wait: {event: {type: order.paid, match: "event.data.order == input.order"}}, after: pause}
  end: {call: f, after: [paid, until], input: "${tasks.paid.result.data.sum}"}
)",
          R"({"order":7})");
    EXPECT_EQ(status("pause"), "waiting");

    // Before its time, and for another order.
    send("order.paid", Value::object({{"order", 8}, {"sum", 1}}));
    send("order.paid", Value::object({{"order", 7}, {"sum", 2}}));
    EXPECT_EQ(status("paid"), "pending");
    pass(std::chrono::seconds{10});
    EXPECT_EQ(status("paid"), "succeeded");
    pass(std::chrono::seconds{50});

    EXPECT_EQ(input_of("end"), Value{2});
    answer("end");
    EXPECT_TRUE(has_succeeded());
}

TEST_F(TaskTest, APersonApprovesWithAForm) {
    start(R"(
name: approval
tasks:
  sign: {approve: {form: {sum: number, note: "text?", kind: [a, b]}, message: "Pay ${input}?"}}
  pay: {call: f, after: sign, input: "${tasks.sign.result.form}"}
)",
          "10");
    EXPECT_EQ(status("sign"), "waiting");

    auto approve = [&](const char* form) {
        return command(
            "task.approve",
            Value::object({{"task", "sign"}, {"by", "ann"}, {"form", *value::parse_json(form)}}));
    };
    EXPECT_EQ(approve(R"({"sum":"much","kind":"a"})"), trigger::Fate::Failed);
    EXPECT_THAT(refusal(), HasSubstr("sum: found the text \"much\", expected a number"));
    EXPECT_EQ(approve(R"({"sum":1})"), trigger::Fate::Failed);
    EXPECT_EQ(approve(R"({"sum":1,"kind":"a","more":1})"), trigger::Fate::Failed);
    EXPECT_EQ(approve(R"({"sum":1,"kind":"b"})"), trigger::Fate::Handled);

    EXPECT_EQ(input_of("pay"), *value::parse_json(R"({"sum":1,"kind":"b"})"));
    EXPECT_EQ(approve(R"({"sum":1,"kind":"b"})"), trigger::Fate::Failed);
    answer("pay");
    EXPECT_TRUE(has_succeeded());
}

TEST_F(TaskTest, ARejectionIsAnError) {
    start(R"(
name: approval
tasks:
  sign: {approve: null, catch: {on: rejected, task: no}}
  no: {call: f, input: "${tasks.sign.error.message}"}
)");

    command("task.approve",
            Value::object({{"task", "sign"}, {"reject", true}, {"reason", "too much"}}));

    EXPECT_EQ(input_of("no"), Value{"too much"});
}

TEST_F(TaskTest, ARunOfAnotherDefinitionIsATask) {
    start(R"(
name: outer
tasks:
  inner: {subworkflow: other, input: {x: 1}}
  next: {call: f, after: inner, input: "${tasks.inner.result}"}
)");
    auto [key, task] = call_of("inner");
    EXPECT_EQ(task.kind, trigger::TaskKind::Run);
    EXPECT_EQ(task.target, "other");

    decide(trigger::child_arrival(state_, key, 1, trigger::types::run_succeeded,
                                  Value::object({{"run", task.child}, {"result", 5}}), moment_));

    EXPECT_EQ(input_of("next"), Value{5});
    answer("next");
}

TEST_F(TaskTest, ANestedRunThatIsCancelledFailsItsTask) {
    start(R"(
name: outer
tasks:
  inner: {subworkflow: other}
)");
    auto [key, task] = call_of("inner");

    decide(trigger::child_arrival(state_, key, 1, trigger::types::run_cancelled,
                                  Value::object({{"run", task.child}, {"error", Value{}}}),
                                  moment_));

    EXPECT_TRUE(has_failed());
    EXPECT_THAT(error("cause"), HasSubstr("cancelled"));
}

TEST_F(TaskTest, EmitsEvents) {
    start(R"(
name: emitting
tasks:
  hear: {wait: {event: {type: done, subject: x}}}
  tell: {emit: {type: done, subject: x, data: {n: "${input}"}}}
  send: {emit: {type: done, to: {run: other}}}
result: "${tasks.hear.result.data}"
)",
          "3");

    EXPECT_TRUE(has_succeeded());
    EXPECT_EQ(result(), R"({"n":3})");
    EXPECT_TRUE(std::ranges::any_of(journal_.effects, [](const trigger::Change& change) {
        const auto* sent = std::get_if<trigger::Sent>(&change);
        return sent != nullptr && sent->target == "other";
    }));
}

constexpr auto planning = R"(
name: planning
tasks:
  plan: {call: f, expand: true}
  end: {call: g, after: plan, input: "${tasks.plan.result}"}
)";

TEST_F(TaskTest, GivesMoreTasks) {
    start(planning, "5");

    answer("plan", *value::parse_json(R"({"tasks":{
        "a": {"call": "f", "input": "${input}"},
        "b": {"call": "f", "after": "a", "input": "${tasks.a.result + 1}"},
        "m": {"after": "b", "map": {"over": 2, "call": "h"}}},
        "result": "${tasks.m.result}"})"));
    EXPECT_THAT(calls(), ElementsAre("plan/0/a: f"));
    EXPECT_EQ(input_of("plan/0/a"), Value{5});
    answer("plan/0/a", 6);
    EXPECT_EQ(input_of("plan/0/b"), Value{7});
    answer("plan/0/b", 8);
    EXPECT_EQ(status("plan"), "running");
    answer("plan/0/m", "x");
    answer("plan/0/m", "y");

    EXPECT_EQ(input_of("end"), Value::list({"x", "y"}));
    answer("end");
    EXPECT_TRUE(has_succeeded());
}

TEST_F(TaskTest, TasksThatItGivesAreCheckedLikeTheRest) {
    start(planning);

    answer("plan", *value::parse_json(R"({"tasks":{
        "a": {"call": "f", "after": "b"},
        "b": {"call": "f", "after": "a", "input": "${tasks.c.result}"},
        "s": {"script": "rm"}}})"));

    EXPECT_TRUE(has_failed());
    EXPECT_THAT(error("cause"), HasSubstr("invalid_tasks"));
    EXPECT_THAT(error("cause"), HasSubstr("tasks/s: found script"));
}

TEST_F(TaskTest, AFailureAmongThemIsItsOwn) {
    start(planning);
    answer("plan", *value::parse_json(R"({"tasks":{"a":{"call":"f"},"b":{"call":"f"}}})"));

    fail("plan/0/a");
    answer("plan/0/b");

    EXPECT_TRUE(has_failed());
    EXPECT_EQ(error("task"), "plan");
    reopen();
    EXPECT_THAT(calls(), ElementsAre("plan: f"));
    answer("plan", *value::parse_json(R"({"tasks":{"a":{"call":"f"}}})"));
    answer("plan/0/a", 1);
    EXPECT_EQ(input_of("end"), *value::parse_json(R"({"a":1})"));
}

} // namespace
} // namespace sluice::workflow::dag
