#include "trial/test_file.h"

#include <gtest/gtest.h>

namespace sluice::trial {

namespace {

std::string findings_of(const std::string& yaml) {
    auto read = parse_tests(yaml, "t.yaml");
    auto text = std::string{};
    if (!read) {
        for (const auto& finding : read.error()) {
            text += workflow::raw::to_text(finding) + "\n";
        }
    }
    return text;
}

} // namespace

TEST(TestFile, SaysEverythingThatIsWrongWithItsPlace) {
    EXPECT_EQ(
        findings_of(R"(definition: 5
functions:
  a: {result: 1, error: x}
  b: []
  c: {attempts: [{attempts: [{result: 1}]}]}
  d: 3
cases:
  - start: yesterday
    events: [{type: sluice.run.started}]
    approvals: [{form: {}}]
    mends: [{task: a}]
    expect: {status: good, calls: {f: many}, tasks: {a: 1}, fired: {b: x}, order: f, eror: 1}
  - {name: twice}
  - {name: twice}
)"),
        R"(t.yaml:1:1: definition: found the number 5, expected the path of the definition, from the folder of this file
t.yaml:3:3: functions/a: a reply is one thing: expected one of result, error, never: true or attempts, found 2 of them
t.yaml:4:3: functions/b: found an empty list, expected replies
t.yaml:5:19: functions/c/attempts/0/attempts: attempts are replies themselves: expected result, error or never: true
t.yaml:6:3: functions/d: found the number 3, expected a map
t.yaml:8:5: cases/0/name: found nothing, expected the name of the case
t.yaml:8:5: cases/0/start: found the text "yesterday", expected a time such as "2026-01-01T00:00:00Z"
t.yaml:9:15: cases/0/events/0/type: found the text "sluice.run.started", expected the type of an event, which does not begin with "sluice."
t.yaml:10:17: cases/0/approvals/0/task: found nothing, expected the task that waits for it
t.yaml:11:13: cases/0/mends/0: expected one of retry: true, skip: true or result, found 0 of them
t.yaml:12:14: cases/0/expect/status: found the text "good", expected one of succeeded, failed, cancelled, timed_out
t.yaml:12:36: cases/0/expect/calls/f: found the text "many", expected how many calls, or a map of count and inputs
t.yaml:12:54: cases/0/expect/tasks/a: found the number 1, expected the status of a task
t.yaml:12:69: cases/0/expect/fired/b: found the text "x", expected how often it fired
t.yaml:12:76: cases/0/expect/order: found the text "f", expected a list of functions or tasks
t.yaml:12:86: cases/0/expect/eror: unknown member "eror": did you mean "error"?
t.yaml:14:6: cases/2/name: found "twice" again, expected names that differ
)");
}

TEST(TestFile, NeedsCases) {
    EXPECT_EQ(findings_of("definition: x\ncases: []\n"),
              "t.yaml:2:1: cases: found an empty list, expected a list of 1 to 100000 cases\n");
    EXPECT_EQ(findings_of("[]"), "t.yaml:1:1: found an empty list, expected a map\n");
}

TEST(TestFile, CasesShareRepliesAndMayHaveTheirOwn) {
    auto read = parse_tests(R"(
definition: x
functions: {a: {result: 1}, b: {result: 2}}
cases:
  - {name: one, functions: {b: {result: 3}}}
  - {name: two, expect: {error: timeout}}
)",
                            "t.yaml");

    ASSERT_TRUE(read);
    EXPECT_EQ(read->cases[0].functions.at("a").front().answer.result, Value{1});
    EXPECT_EQ(read->cases[0].functions.at("b").front().answer.result, Value{3});
    EXPECT_EQ(read->cases[1].functions.at("b").front().answer.result, Value{2});
    EXPECT_EQ(read->cases[1].expected.status, "failed");
}

} // namespace sluice::trial
