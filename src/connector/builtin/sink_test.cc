#include "connector/builtin/sink.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "reactor/testing/manual_scheduler.h"
#include "reactor/timer_thread.h"

namespace sluice::connector::builtin {
namespace {

using event::Answer;
using event::Delivery;
using reactor::testing::ManualScheduler;
using std::chrono::milliseconds;
using std::chrono::seconds;

Delivery call_of(std::string function, Value input = {}) {
    auto delivery = Delivery{};
    delivery.key = "run/1/0";
    delivery.token = "token";
    delivery.target = std::move(function);
    delivery.payload = std::move(input);
    return delivery;
}

/// A sink under a test's own time, and the answers it gave.
struct Bench {
    explicit Bench(Options options = {}) : sink(std::in_place, scheduler, options) {}

    void deliver(Delivery delivery) {
        sink->deliver(std::move(delivery),
                      [this](Answer answer) { answers.push_back(std::move(answer)); });
    }

    /// Of what answers at once; throws when it does not.
    Answer answer_to(Delivery delivery) {
        auto earlier = answers.size();
        deliver(std::move(delivery));
        return answers.at(earlier);
    }

    ManualScheduler scheduler;
    std::vector<Answer> answers;
    std::optional<Sink> sink;
};

TEST(BuiltinSink, EchoAnswersItsInput) {
    auto bench = Bench{};
    auto input = Value::object({{"a", 1}});

    auto answer = bench.answer_to(call_of("echo", input));

    EXPECT_TRUE(answer.is_success);
    EXPECT_EQ(answer.result, input);
}

TEST(BuiltinSink, NoopAnswersNull) {
    auto bench = Bench{};

    auto answer = bench.answer_to(call_of("noop", 7));

    EXPECT_TRUE(answer.is_success);
    EXPECT_TRUE(answer.result.is_null());
}

TEST(BuiltinSink, NamesTheFunctionItDoesNotKnow) {
    auto bench = Bench{};

    auto answer = bench.answer_to(call_of("ehco"));

    EXPECT_FALSE(answer.is_success);
    EXPECT_EQ(answer.error_kind, "unknown_function");
    EXPECT_EQ(answer.error_message,
              "no builtin function 'ehco': expected echo, noop, sleep, fail or flaky");
}

TEST(BuiltinSink, FailFailsAsAsked) {
    auto bench = Bench{};

    auto plain = bench.answer_to(call_of("fail"));
    auto asked = bench.answer_to(call_of(
        "fail", Value::object({{"kind", "timeout"}, {"message", "too slow"}, {"detail", 4}})));

    EXPECT_FALSE(plain.is_success);
    EXPECT_EQ(plain.error_kind, "failed");
    EXPECT_EQ(plain.error_message, "failed as asked");
    EXPECT_EQ(asked.error_kind, "timeout");
    EXPECT_EQ(asked.error_message, "too slow");
    EXPECT_EQ(asked.error_detail, Value{4});
}

TEST(BuiltinSink, SleepAnswersWhenItsTimeHasPassed) {
    auto bench = Bench{};
    bench.deliver(call_of("sleep", Value::object({{"duration", "250ms"}, {"value", "awake"}})));
    bench.deliver(call_of("sleep", Value::object({{"seconds", 1.5}})));

    bench.scheduler.advance(milliseconds{249});
    EXPECT_TRUE(bench.answers.empty());
    bench.scheduler.advance(milliseconds{1});
    ASSERT_EQ(bench.answers.size(), 1U);
    EXPECT_EQ(bench.answers[0].result, Value{"awake"});
    bench.scheduler.advance(milliseconds{1'249});
    EXPECT_EQ(bench.answers.size(), 1U);
    bench.scheduler.advance(milliseconds{1});

    ASSERT_EQ(bench.answers.size(), 2U);
    EXPECT_TRUE(bench.answers[1].is_success);
    EXPECT_EQ(bench.answers[1].result, Value::object({{"seconds", 1.5}}));
}

TEST(BuiltinSink, SleepGivesUpAtTheTimeout) {
    auto bench = Bench{};
    auto delivery = call_of("sleep", Value::object({{"seconds", 10}}));
    delivery.timeout = seconds{2};
    bench.deliver(std::move(delivery));

    bench.scheduler.advance(seconds{2});

    ASSERT_EQ(bench.answers.size(), 1U);
    EXPECT_EQ(bench.answers[0].error_kind, "timeout");
    EXPECT_EQ(bench.answers[0].error_message, "no answer within 2s");
    bench.scheduler.advance(seconds{20});
    EXPECT_EQ(bench.answers.size(), 1U);
}

TEST(BuiltinSink, SleepThatEndsAtItsTimeoutIsInTime) {
    auto bench = Bench{};
    auto delivery = call_of("sleep", Value::object({{"seconds", 2}}));
    delivery.timeout = seconds{2};
    bench.deliver(std::move(delivery));

    bench.scheduler.advance(seconds{2});

    EXPECT_TRUE(bench.answers.at(0).is_success);
}

TEST(BuiltinSink, CancelAnswersAtOnceAndOnlyOnce) {
    auto bench = Bench{};
    auto other = call_of("sleep", Value::object({{"seconds", 10}}));
    other.token = "token of another";
    bench.deliver(call_of("sleep", Value::object({{"seconds", 10}})));
    bench.deliver(std::move(other));

    bench.sink->cancel("token");
    bench.sink->cancel("token");
    bench.sink->cancel("never delivered");
    ASSERT_EQ(bench.answers.size(), 1U);
    EXPECT_EQ(bench.answers[0].error_kind, "cancelled");
    bench.scheduler.advance(seconds{10});

    ASSERT_EQ(bench.answers.size(), 2U);
    EXPECT_TRUE(bench.answers[1].is_success);
}

TEST(BuiltinSink, AnswersEachOfTwoDeliveriesWithOneToken) {
    auto bench = Bench{};
    bench.deliver(call_of("sleep", Value::object({{"seconds", 10}})));
    bench.deliver(call_of("sleep", Value::object({{"seconds", 10}})));

    bench.sink->cancel("token");

    EXPECT_EQ(bench.answers.size(), 2U);
}

TEST(BuiltinSink, DestroyedItAnswersWhatStillSleeps) {
    auto bench = Bench{};
    bench.deliver(call_of("sleep", Value::object({{"seconds", 10}})));

    bench.sink.reset();

    ASSERT_EQ(bench.answers.size(), 1U);
    EXPECT_EQ(bench.answers[0].error_kind, "cancelled");
    EXPECT_TRUE(bench.scheduler.is_idle());
}

TEST(BuiltinSink, SaysWhatIsWrongWithTheInput) {
    struct Case {
        std::string function;
        Value input;
        std::string message;
    };
    auto cases = std::vector<Case>{
        {"sleep", {}, "the input is null: expected either seconds or duration in it"},
        {"sleep", Value::object({{"seconds", 1}, {"duration", "1s"}}),
         R"(the input is {"seconds":1,"duration":"1s"}: expected either seconds or duration in it)"},
        {"sleep", Value::object({{"seconds", -1}}),
         "seconds is -1: expected a number from 0 to 1000000000"},
        {"sleep", Value::object({{"seconds", "1"}}),
         "seconds is \"1\": expected a number from 0 to 1000000000"},
        {"sleep", Value::object({{"seconds", 1'000'000'001}}),
         "seconds is 1000000001: expected a number from 0 to 1000000000"},
        {"sleep", Value::object({{"duration", "soon"}}),
         R"(duration is "soon": expected a text such as "250ms")"},
        {"sleep", Value::object({{"duration", 5}}),
         R"(duration is 5: expected a text such as "250ms")"},
        {"fail", Value::object({{"kind", 5}}), "kind is 5: expected a text"},
        {"flaky", {}, "rate is missing: expected a number from 0 to 1"},
        {"flaky", Value::object({{"rate", 1.5}}), "rate is 1.5: expected a number from 0 to 1"},
        {"flaky", Value::object({{"rate", Value::list(std::vector<Value>(200, Value{1}))}}),
         "rate is a list: expected a number from 0 to 1"},
    };
    auto bench = Bench{};
    for (auto& [function, input, message] : cases) {
        auto answer = bench.answer_to(call_of(function, input));
        EXPECT_FALSE(answer.is_success);
        EXPECT_EQ(answer.error_kind, "invalid_input");
        EXPECT_EQ(answer.error_message, message);
    }
}

TEST(BuiltinSink, FlakyFailsAboutAsOftenAsItsRate) {
    auto bench = Bench{{.seed = 42}};
    auto failures = 0;
    for (auto number = 0; number < 2'000; number++) {
        auto delivery = call_of("flaky", Value::object({{"rate", 0.3}, {"value", number}}));
        delivery.key = "run/" + std::to_string(number) + "/0";
        auto answer = bench.answer_to(std::move(delivery));
        failures += answer.is_success ? 0 : 1;
        if (answer.is_success) {
            EXPECT_EQ(answer.result, Value{number});
        } else {
            EXPECT_EQ(answer.error_kind, "failed");
        }
    }
    EXPECT_NEAR(failures, 600, 100);
}

TEST(BuiltinSink, FlakyNeverFailsAtRateZeroAndAlwaysAtOne) {
    auto bench = Bench{};
    for (auto attempt = 1U; attempt < 100; attempt++) {
        auto never = call_of("flaky", Value::object({{"rate", 0}}));
        auto always = call_of("flaky", Value::object({{"rate", 1}}));
        never.attempt = always.attempt = attempt;
        EXPECT_TRUE(bench.answer_to(never).is_success);
        EXPECT_FALSE(bench.answer_to(always).is_success);
    }
}

TEST(BuiltinSink, SimulatesFunctionsOfAnyName) {
    auto bench = Bench{{.time_scale = 0.01}};
    auto input = Value::object({{"task", "a"}, {"seconds", 100}});
    bench.deliver(call_of("mProject", input));
    bench.deliver(call_of("sleep", Value::object({{"duration", "200s"}})));

    EXPECT_EQ(bench.answer_to(call_of("load", 7)).result, Value{7});
    EXPECT_EQ(bench.answer_to(call_of("load", Value::object({{"outputs", "x"}}))).result,
              Value{"x"});
    EXPECT_EQ(bench.answer_to(call_of("noop", 7)).result, Value{});
    EXPECT_EQ(bench.answer_to(call_of("fail")).error_kind, "failed");
    EXPECT_EQ(bench.answer_to(call_of("load", Value::object({{"seconds", -1}}))).error_kind,
              "invalid_input");
    bench.scheduler.advance(milliseconds{999});
    EXPECT_EQ(bench.answers.size(), 5U);
    bench.scheduler.advance(milliseconds{1});
    ASSERT_EQ(bench.answers.size(), 6U);
    EXPECT_EQ(bench.answers.back().result, input);
    bench.scheduler.advance(seconds{1});
    EXPECT_EQ(bench.answers.size(), 7U);
}

TEST(BuiltinSink, SimulatedTimeHasABound) {
    auto bench = Bench{{.time_scale = 1e6}};

    bench.deliver(call_of("load", Value::object({{"seconds", 1e9}})));

    EXPECT_TRUE(bench.answers.empty());
    EXPECT_FALSE(bench.scheduler.is_idle());
}

RC_GTEST_PROP(BuiltinSink, FlakyFaresTheSameEachTimeAnAttemptIsDelivered,
              (std::uint64_t seed, std::string key, std::uint32_t attempt)) {
    auto delivery = call_of("flaky", Value::object({{"rate", 0.5}}));
    delivery.key = key;
    delivery.attempt = attempt;

    auto first = Bench{{.seed = seed}}.answer_to(delivery);
    auto second = Bench{{.seed = seed}}.answer_to(delivery);

    RC_ASSERT(first.is_success == second.is_success);
}

TEST(BuiltinSink, AnswersEverySleepOnceWhileThreadsCancel) {
    constexpr auto count = 300;
    auto answered = std::vector<std::atomic<int>>(count);
    {
        auto timers = reactor::TimerThread{};
        auto sink = Sink{timers};
        auto canceller = std::jthread{[&] {
            for (auto number = 0; number < count; number++) {
                sink.cancel(std::to_string(number));
            }
        }};
        for (auto number = 0; number < count; number++) {
            auto delivery = call_of("sleep", Value::object({{"duration", "100us"}}));
            delivery.token = std::to_string(number);
            sink.deliver(std::move(delivery), [&, number](Answer) { answered[number]++; });
        }
        canceller.join();
    }
    for (const auto& answers : answered) {
        EXPECT_EQ(answers.load(), 1);
    }
}

} // namespace
} // namespace sluice::connector::builtin
