#include "workflow/raw/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "value/json.h"
#include "workflow/raw/testing/findings.h"

namespace sluice::workflow::raw {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

Definition compiled(std::string_view text) {
    EXPECT_THAT(testing::findings_in(text), IsEmpty());
    return compile(parse(text, "f").value());
}

TEST(Compile, GivesTheFormThatTheKernelReads) {
    auto definition = compiled(R"(name: x
input: {a: 1}
functions: {f: {command: ls}}
context: {c: 2}
triggers: [{id: a, on: b}]
definitions: {y: {triggers: [{id: a, on: b}]}}
)");

    EXPECT_EQ(definition.name, "x");
    EXPECT_EQ(value::to_json(definition.form),
              R"({"name":"x","input":{"a":1},"context":{"c":2},"triggers":[{"id":"a","on":"b"}]})");
    EXPECT_EQ(value::to_json(definition.input), R"({"a":1})");
}

TEST(Compile, NamesNestedDefinitionsByTheirKeys) {
    auto definition = compiled(R"(name: x
triggers: [{id: a, on: b}]
definitions:
  y:
    triggers: [{id: a, on: b}]
    definitions:
      z: {timeout: 1s, triggers: [{id: a, on: b}]}
)");

    ASSERT_THAT(definition.nested, SizeIs(1));
    EXPECT_EQ(definition.nested[0].name, "y");
    ASSERT_THAT(definition.nested[0].nested, SizeIs(1));
    EXPECT_EQ(definition.nested[0].nested[0].name, "z");
    auto problems = std::vector<trigger::Problem>{};
    auto spec = trigger::parse_set(definition.nested[0].nested[0].form, {}, problems);
    EXPECT_THAT(problems, IsEmpty());
    EXPECT_EQ(spec.timeout, std::chrono::seconds{1});
}

TEST(Compile, ReadsFunctions) {
    auto definition = compiled(R"(name: x
triggers: [{id: a, on: b}]
functions:
  shell: {command: echo 1, env: {A: b, N: 5, T: true}, cwd: /tmp, concurrency: 2}
  argv: {kind: process, command: [ls, -l], timeout: 5s, retry: {attempts: 2}}
  slow: {builtin: sleep}
  echo:
)");

    ASSERT_THAT(definition.functions, SizeIs(4));
    const auto& shell = definition.functions[0];
    EXPECT_EQ(shell.kind, FunctionKind::Process);
    EXPECT_THAT(shell.argv, ElementsAre("sh", "-c", "echo 1"));
    EXPECT_THAT(shell.environment, ElementsAre(Pair("A", "b"), Pair("N", "5"), Pair("T", "true")));
    EXPECT_EQ(shell.directory, "/tmp");
    EXPECT_EQ(shell.concurrency, 2U);
    EXPECT_TRUE(shell.policy.is_null());
    EXPECT_THAT(definition.functions[1].argv, ElementsAre("ls", "-l"));
    EXPECT_EQ(value::to_json(definition.functions[1].policy),
              R"({"timeout":"5s","retry":{"attempts":2}})");
    EXPECT_EQ(definition.functions[2].kind, FunctionKind::Builtin);
    EXPECT_EQ(definition.functions[2].builtin, "sleep");
    EXPECT_EQ(definition.functions[3].builtin, "echo");
}

TEST(FunctionForm, ReadsOneOnItsOwn) {
    auto http = read_function("f", Value::object({{"url", "https://e.org/"},
                                                  {"headers", Value::object({{"X-Team", "red"}})},
                                                  {"format", "json"},
                                                  {"allow_private", true},
                                                  {"heartbeat", "5s"}}));
    ASSERT_TRUE(http);
    EXPECT_EQ(http->kind, FunctionKind::Http);
    EXPECT_EQ(http->url, "https://e.org/");
    EXPECT_THAT(http->headers, ElementsAre(Pair("X-Team", "red")));
    EXPECT_TRUE(http->is_plain_json);
    EXPECT_TRUE(http->is_private);
    EXPECT_EQ(http->heartbeat, std::chrono::seconds{5});
    auto poll = read_function("f", Value::object({{"kind", "poll"}, {"offers", 7}}));
    ASSERT_TRUE(poll);
    EXPECT_EQ(poll->kind, FunctionKind::Poll);
    EXPECT_EQ(poll->offers, 7U);
    auto wrong = read_function("f", Value::object({{"kind", "http"}, {"colour", 1}}));
    ASSERT_FALSE(wrong);
    EXPECT_THAT(wrong.error(), SizeIs(2));
}

TEST(Compile, LeavesToABrokerWhatOnlyItUnderstands) {
    auto broker = read_function("f", Value::object({{"kind", "broker"},
                                                    {"url", "redis://h"},
                                                    {"streams", Value::list({"orders"})},
                                                    {"concurrency", 10},
                                                    {"timeout", "5s"}}));
    ASSERT_TRUE(broker);
    EXPECT_EQ(broker->kind, FunctionKind::Broker);
    EXPECT_EQ(broker->broker,
              Value::object({{"url", "redis://h"}, {"streams", Value::list({"orders"})}}));
    EXPECT_EQ(broker->concurrency, 10U);
    EXPECT_EQ(*broker->policy.find("timeout"), Value{"5s"});
    auto wrong = read_function("f", Value::object({{"kind", "broker"}, {"retry", 7}}));
    ASSERT_FALSE(wrong);
    EXPECT_THAT(wrong.error(), SizeIs(2));
}

TEST(Compile, ReadsLimitsAndPoolsOfFunctions) {
    auto definition = compiled(R"(name: x
triggers: [{id: a, on: b}]
functions:
  warm:
    command: [serve]
    pool: {max: 2, idle: 5s, calls: 100, heartbeat: 10s}
    limits: {memory: 256MiB, cpu: 1.5, cpu_time: 10s}
    timeout: 1m
    rate: 100/s
    burst: 5
    priority: 3
    per_key: {key: input.customer, concurrency: 1, rate: 2/m}
  plain: {command: [serve], pool: {}}
)");

    ASSERT_THAT(definition.functions, SizeIs(2));
    const auto& warm = definition.functions[0];
    EXPECT_EQ(warm.pool, (PoolForm{.max = 2,
                                   .idle = std::chrono::seconds{5},
                                   .calls = 100,
                                   .heartbeat = std::chrono::seconds{10}}));
    EXPECT_EQ(warm.resources,
              (ResourceForm{
                  .memory_bytes = 256U << 20U, .cpu = 1.5, .cpu_time = std::chrono::seconds{10}}));
    EXPECT_EQ(value::to_json(warm.policy),
              R"({"timeout":"1m","rate":"100/s","burst":5,"priority":3,)"
              R"("per_key":{"key":"input.customer","concurrency":1,"rate":"2/m"}})");
    EXPECT_EQ(definition.functions[1].pool, PoolForm{});
}

} // namespace
} // namespace sluice::workflow::raw
