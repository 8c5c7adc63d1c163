#include "engine/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reactor/testing/manual_scheduler.h"
#include "store/objects/memory_objects.h"

namespace sluice::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Answers when it is told to.
class PatientSink final : public event::Sink {
public:
    void deliver(event::Delivery delivery, Done done) override {
        begun.push_back(std::move(delivery.key));
        inputs.push_back(std::move(delivery.payload));
        waiting.push_back(std::move(done));
    }
    void cancel(std::string_view token) override { cancelled.emplace_back(token); }
    bool heartbeat(std::string_view token, std::uint64_t lease) override {
        beats.push_back(lease);
        return !token.empty();
    }

    std::vector<std::string> begun;
    std::vector<Value> inputs;
    std::vector<Done> waiting;
    std::vector<std::string> cancelled;
    std::vector<std::uint64_t> beats;
};

/// Its time passes with the scheduler's.
class ScheduledClock final : public Clock {
public:
    Time wall() const override { return Time{now}; }
    Nanos steady() const override { return now; }

    Nanos now = seconds{1'000};
};

class DispatcherTest : public ::testing::Test {
protected:
    void open(Function function, std::size_t contents_max = 10'000) {
        function.sink = &sink_;
        dispatcher_ = std::make_unique<Dispatcher>(
            FunctionTable{.shared = {{"f", std::move(function)}}}, 1, Secret{},
            DispatcherServices{.clock = clock_,
                               .timers = timers_,
                               .answered = [](const AnswerInput&) {},
                               .reload = [this](Call call) { reloaded_.push_back(call); },
                               .contents_max = contents_max});
    }
    void open(const Value& policy, std::uint32_t concurrency = 0) {
        auto function = Function{.concurrency = concurrency};
        apply_policy(policy, function);
        open(std::move(function));
    }

    Call call(std::string run, std::string space = "default", Value input = {}, Value policy = {}) {
        return {.run = {.space = std::move(space), .id = std::move(run)},
                .key = {.fire = trigger::FireNumber{1}, .index = index_++},
                .task = {.target = "f", .input = std::move(input), .policy = std::move(policy)}};
    }
    void dispatch(Call one) {
        auto calls = std::vector<Call>{};
        calls.push_back(std::move(one));
        dispatcher_->dispatch(std::move(calls));
    }
    void pass(Nanos time) {
        clock_.now += time;
        timers_.advance(time);
    }
    void answer(std::size_t at) { std::exchange(sink_.waiting[at], {})({}); }
    /// Every call is answered as soon as it has begun. Their runs, in the order they began.
    std::vector<std::string> runs_in_order() {
        for (auto at = std::size_t{0}; at < sink_.waiting.size(); ++at) {
            if (sink_.waiting[at]) {
                answer(at);
            }
        }
        auto runs = std::vector<std::string>{};
        for (const auto& key : sink_.begun) {
            auto run = key.substr(0, key.find("/1/"));
            runs.push_back(run.substr(run.find('/') + 1));
        }
        return runs;
    }

    PatientSink sink_;
    ScheduledClock clock_;
    reactor::testing::ManualScheduler timers_;
    std::vector<Call> reloaded_;
    std::uint64_t index_ = 0;
    std::unique_ptr<Dispatcher> dispatcher_;
};

TEST_F(DispatcherTest, EachKindOfErrorHasItsRetries) {
    open(Function{});
    auto retries =
        Value::list({Value::object({{"on", Value::list({"timeout"})},
                                    {"attempts", 2},
                                    {"interval", "1s"},
                                    {"jitter", 0}}),
                     Value::object({{"attempts", 3}, {"interval", "5s"}, {"jitter", 0}})});
    auto one = call("r", "default", {}, Value::object({{"retry", retries}}));
    auto id = one.id();
    dispatch(std::move(one));
    auto delay = [&](std::uint32_t attempt, std::string_view kind) {
        auto policy = Function{.sink = &sink_};
        apply_policy(Value::object({{"retry", retries}}), policy, kind);
        return policy.retry.delay_after(attempt, kind, 0);
    };

    EXPECT_EQ(dispatcher_->delay_after(id, event::failure("timeout", "")), seconds{1});
    EXPECT_EQ(dispatcher_->delay_after(id, event::failure("exit", "")), seconds{5});
    EXPECT_EQ(delay(2, "timeout"), std::nullopt);
    EXPECT_EQ(delay(2, "exit"), seconds{10});
    EXPECT_EQ(delay(1, "invalid_input"), std::nullopt);
}

TEST_F(DispatcherTest, DoesNotBeginACallThatIsCancelledWhileItsInputIsFetched) {
    auto objects = store::MemoryObjects{};
    auto references = References{objects, Secret{}};
    auto aside = std::vector<std::move_only_function<void()>>{};
    auto answered = 0;
    dispatcher_ = std::make_unique<Dispatcher>(
        FunctionTable{.shared = {{"f", Function{.sink = &sink_, .concurrency = 1}}}}, 1, Secret{},
        DispatcherServices{.clock = clock_,
                           .timers = timers_,
                           .answered = [&](const AnswerInput&) { ++answered; },
                           .references = &references,
                           .aside = [&](auto task) { aside.push_back(std::move(task)); }});
    auto one = call("r", "default", *references.put({.id = "r"}, Value{"kept"}));
    auto key = one.key;
    dispatch(one);
    dispatch(call("r", "default", one.task.input));
    ASSERT_EQ(aside.size(), 1U);

    dispatcher_->cancel({.id = "r"}, key);
    aside[0]();
    ASSERT_EQ(aside.size(), 2U) << "its place is free";
    aside[1]();

    EXPECT_EQ(answered, 0);
    EXPECT_THAT(sink_.inputs, ElementsAre(Value{"kept"}));
    EXPECT_EQ(dispatcher_->pending(), 1U);
}

TEST_F(DispatcherTest, ForgetsACallThatIsCancelledBeforeItsTurn) {
    open({.concurrency = 1});
    auto calls = std::vector{call("r"), call("r"), call("r"), call("r")};
    auto keys = std::vector{calls[0].key, calls[1].key, calls[2].key, calls[3].key};
    dispatcher_->dispatch(std::move(calls));

    dispatcher_->cancel({.id = "r"}, keys[1]);
    dispatcher_->cancel({.id = "r"}, keys[1]);
    dispatcher_->cancel({.id = "other"}, keys[2]);
    EXPECT_EQ(dispatcher_->pending(), 3U);
    EXPECT_EQ(dispatcher_->waiting_in("default"), 2U);
    runs_in_order();

    EXPECT_THAT(sink_.begun, ElementsAre("r/1/0", "r/1/2", "r/1/3"));
    EXPECT_TRUE(sink_.cancelled.empty());
    EXPECT_EQ(dispatcher_->pending(), 0U);
    EXPECT_EQ(dispatcher_->waiting_in("default"), 0U);
}

TEST_F(DispatcherTest, BeginsNoMoreThanTheRateAllows) {
    open(Value::object({{"rate", "10/s"}, {"burst", 2}}));
    dispatcher_->dispatch({call("a"), call("b"), call("c"), call("d")});

    EXPECT_EQ(sink_.begun.size(), 2U);
    pass(milliseconds{99});
    EXPECT_EQ(sink_.begun.size(), 2U);
    pass(milliseconds{1});
    EXPECT_EQ(sink_.begun.size(), 3U);
    pass(milliseconds{100});

    EXPECT_EQ(sink_.begun.size(), 4U);
    EXPECT_TRUE(timers_.is_idle());
}

TEST_F(DispatcherTest, ARateIsNotCatchingUpOnAPause) {
    open(Value::object({{"rate", "10/s"}, {"burst", 1}}));
    pass(seconds{60});

    dispatcher_->dispatch({call("a"), call("b")});

    EXPECT_EQ(sink_.begun.size(), 1U);
}

TEST_F(DispatcherTest, KeysHaveTheirOwnConcurrency) {
    open(Value::object(
        {{"per_key", Value::object({{"key", "input.customer"}, {"concurrency", 1}})}}));
    auto of = [](const char* customer) { return Value::object({{"customer", customer}}); };
    dispatch(call("a1", "default", of("a")));
    dispatch(call("a2", "default", of("a")));
    dispatch(call("b1", "default", of("b")));
    dispatch(call("x1", "team", of("a")));

    EXPECT_THAT(sink_.begun, ElementsAre("a1/1/0", "b1/1/2", "team/x1/1/3"));
    answer(1);
    EXPECT_EQ(sink_.begun.size(), 3U);
    answer(0);

    EXPECT_EQ(sink_.begun.back(), "a2/1/1");
}

TEST_F(DispatcherTest, AKeyMayLieInAList) {
    open(Value::object(
        {{"per_key", Value::object({{"key", "input.items[0]"}, {"concurrency", 1}})}}));
    auto of = [](int first) { return Value::object({{"items", Value::list({first, 9})}}); };
    dispatch(call("a1", "default", of(1)));
    dispatch(call("a2", "default", of(1)));
    dispatch(call("b1", "default", of(2)));

    EXPECT_THAT(sink_.begun, ElementsAre("a1/1/0", "b1/1/2"));
}

TEST_F(DispatcherTest, KeysHaveTheirOwnRate) {
    open(Value::object({{"per_key", Value::object({{"key", "input"}, {"rate", "1/s"}})}}));
    dispatch(call("a1", "default", 1));
    dispatch(call("a2", "default", 1));
    dispatch(call("a3", "default", 1));
    dispatch(call("b1", "default", 2));

    EXPECT_THAT(sink_.begun, ElementsAre("a1/1/0", "b1/1/3"));
    answer(0);
    EXPECT_EQ(sink_.begun.size(), 2U);
    pass(seconds{1});
    EXPECT_EQ(sink_.begun.back(), "a2/1/1");
    pass(seconds{1});

    EXPECT_EQ(sink_.begun.back(), "a3/1/2");
    EXPECT_TRUE(timers_.is_idle());
}

TEST_F(DispatcherTest, CallsWithoutTheKeyShareOne) {
    open(Value::object(
        {{"per_key", Value::object({{"key", "input.customer"}, {"concurrency", 1}})}}));
    dispatcher_->dispatch({call("a"), call("b")});

    EXPECT_EQ(sink_.begun.size(), 1U);
}

TEST_F(DispatcherTest, HigherPrioritiesGoFirst) {
    open(Value::object({{"priority", 5}}), 1);
    dispatch(call("first"));
    dispatch(call("plain"));
    dispatch(call("low", "default", {}, Value::object({{"priority", -1}})));
    dispatch(call("high", "default", {}, Value::object({{"priority", 10}})));

    EXPECT_THAT(runs_in_order(), ElementsAre("first", "high", "plain", "low"));
}

TEST_F(DispatcherTest, NamespacesTakeTurns) {
    open({.concurrency = 1});
    auto calls = std::vector<Call>{};
    for (const auto* run : {"a1", "a2", "a3", "a4"}) {
        calls.push_back(call(run, "a"));
    }
    calls.push_back(call("b1", "b"));
    calls.push_back(call("b2", "b"));
    calls.push_back(call("c1", "c"));
    dispatcher_->dispatch(std::move(calls));

    EXPECT_THAT(runs_in_order(), ElementsAre("a1", "a2", "b1", "c1", "a3", "b2", "a4"));
}

TEST_F(DispatcherTest, KeepsOnlyTheNamesOfCallsBeyondItsBound) {
    open({.concurrency = 1}, 1);
    dispatcher_->dispatch({call("a", "default", 1), call("b", "default", 2),
                           call("c", "default", 3), call("d", "default", 4)});
    answer(0);
    answer(1);
    ASSERT_EQ(reloaded_.size(), 1U);
    EXPECT_TRUE(reloaded_[0].task.input.is_null());
    EXPECT_EQ(dispatcher_->pending(), 2U);

    auto task = reloaded_[0].task;
    task.input = 3;
    dispatcher_->resume(reloaded_[0], task);
    EXPECT_EQ(sink_.inputs.back(), Value{3});
    answer(2);
    ASSERT_EQ(reloaded_.size(), 2U);
    dispatcher_->resume(reloaded_[1], std::nullopt);

    EXPECT_EQ(sink_.begun.size(), 3U);
    EXPECT_EQ(dispatcher_->pending(), 0U);
}

TEST_F(DispatcherTest, StoppedItBeginsNothingMore) {
    open(Value::object({{"rate", "1/s"}}));
    dispatcher_->dispatch({call("a"), call("b")});

    dispatcher_->stop();
    pass(seconds{5});

    EXPECT_THAT(sink_.begun, ElementsAre("a/1/0"));
}

/// A dispatcher whose functions are changed while calls are there.
class ChangedFunctions : public ::testing::Test {
protected:
    static Call call_of(std::uint64_t index, std::string space = "default") {
        return {.run = {.space = std::move(space), .id = "r"},
                .key = {.fire = trigger::FireNumber{1}, .index = index},
                .task = {.target = "f"}};
    }
    void dispatch(std::uint64_t count) {
        for (auto index = std::uint64_t{0}; index < count; ++index) {
            auto calls = std::vector<Call>{};
            calls.push_back(call_of(index));
            dispatcher.dispatch(std::move(calls));
        }
    }
    static void answer_next(PatientSink& sink, event::Answer answer = {}) {
        auto done = std::move(sink.waiting.front());
        sink.waiting.erase(sink.waiting.begin());
        done(std::move(answer));
    }

    PatientSink before;
    PatientSink after;
    std::vector<AnswerInput> answers;
    ScheduledClock clock;
    reactor::testing::ManualScheduler timers;
    Dispatcher dispatcher{
        {.shared = {{"f", {.sink = &before, .concurrency = 1}}}},
        1,
        Secret{},
        {.clock = clock, .timers = timers, .answered = [this](AnswerInput answer) {
             answers.push_back(std::move(answer));
         }}};
};

TEST_F(ChangedFunctions, CallsThatWaitGoToTheNewOneAndBegunOnesEndAsTheyBegan) {
    dispatch(2);

    dispatcher.set_function("", "f", {.sink = &after, .concurrency = 2});
    dispatcher.cancel({.id = "r"}, call_of(0).key);

    EXPECT_EQ(before.begun, std::vector<std::string>{"r/1/0"});
    EXPECT_EQ(before.cancelled.size(), 1U);
    EXPECT_EQ(after.begun, std::vector<std::string>{"r/1/1"});
    answer_next(before);
    answer_next(after);
    EXPECT_EQ(answers.size(), 2U);
}

TEST_F(ChangedFunctions, TheOneForAnyNameTakesWhatNoOtherDoes) {
    dispatcher.set_function("", std::string{any_function}, {.sink = &after});
    auto other = call_of(1);
    other.task.target = "g";
    auto calls = std::vector<Call>{};
    calls.push_back(call_of(0));
    calls.push_back(std::move(other));

    dispatcher.dispatch(std::move(calls));

    EXPECT_EQ(before.begun, std::vector<std::string>{"r/1/0"});
    EXPECT_EQ(after.begun, std::vector<std::string>{"r/1/1"});
}

TEST_F(ChangedFunctions, ARemovedOneEndsWhatItBeganAndFailsWhatWaits) {
    dispatch(2);

    dispatcher.remove_function("", "f");
    dispatcher.remove_function("", "f");
    dispatcher.remove_function("other", "f");

    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].attempt.key.index, 1U);
    EXPECT_EQ(answers[0].answer.error_kind, "unknown_function");
    answer_next(before);
    EXPECT_TRUE(answers[1].answer.is_success);
    dispatch(1);
    EXPECT_EQ(answers[2].answer.error_kind, "unknown_function");
    EXPECT_EQ(dispatcher.pending(), 0U);
}

TEST_F(ChangedFunctions, ANamespacesOwnGoesBeforeTheOneForAll) {
    dispatcher.set_function("team", "f", {.sink = &after});
    auto calls = std::vector<Call>{};
    calls.push_back(call_of(0));
    calls.push_back(call_of(1, "team"));

    dispatcher.dispatch(std::move(calls));

    EXPECT_EQ(before.begun, std::vector<std::string>{"r/1/0"});
    EXPECT_EQ(after.begun, std::vector<std::string>{"team/r/1/1"});
}

TEST_F(ChangedFunctions, AHeartbeatReachesTheSinkOfACallUnderWay) {
    dispatch(1);

    EXPECT_TRUE(dispatcher.heartbeat(call_of(0).id(), 7));
    EXPECT_FALSE(dispatcher.heartbeat(call_of(1).id(), 7));
    answer_next(before);

    EXPECT_FALSE(dispatcher.heartbeat(call_of(0).id(), 7));
    EXPECT_EQ(before.beats, std::vector<std::uint64_t>{7});
}

TEST_F(ChangedFunctions, ASinkGoesWithItsLastCall) {
    auto owned = std::make_shared<PatientSink>();
    auto watched = std::weak_ptr{owned};
    auto* sink = owned.get();
    dispatcher.set_function("", "f", {.sink = sink, .owner = std::move(owned)});
    dispatch(1);
    auto done = std::move(sink->waiting.front());

    dispatcher.set_function("", "f", {.sink = &after});

    EXPECT_FALSE(watched.expired());
    done({});
    EXPECT_TRUE(watched.expired());
}

TEST_F(ChangedFunctions, WhoAsksToBeLeftAloneIsNotCalledBefore) {
    dispatcher.set_function("", "f", {.sink = &before, .retry = {.attempts = 2, .jitter = 0}});
    dispatch(2);

    answer_next(before, {.is_success = false, .retry_after = std::chrono::seconds{7}});
    answer_next(before, {.is_success = false, .retry_after = std::chrono::hours{100}});

    EXPECT_EQ(answers[0].retry_after, std::chrono::seconds{7});
    EXPECT_EQ(answers[1].retry_after, std::chrono::hours{1});
}

/// Two functions that share a pool.
class PoolTest : public DispatcherTest {
protected:
    void open_pool(std::uint32_t slots, std::uint32_t concurrency = 0) {
        dispatcher_ = std::make_unique<Dispatcher>(
            FunctionTable{.shared = {{"f", {.sink = &sink_, .concurrency = concurrency}},
                                     {"g", {.sink = &sink_}},
                                     {"gpu", {.slots = slots}}}},
            1, Secret{},
            DispatcherServices{.clock = clock_,
                               .timers = timers_,
                               .answered =
                                   [this](const AnswerInput& input) {
                                       if (!input.answer.is_success) {
                                           failures_.push_back(input.answer.error_kind);
                                       }
                                   },
                               .reload = {}});
    }
    void dispatch_on(const std::string& function, const std::string& run, std::int64_t slots = 1,
                     std::int64_t priority = 0, const std::string& pool = "gpu") {
        auto one = call(run, "default", {},
                        Value::object({{"pool", pool}, {"slots", slots}, {"priority", priority}}));
        one.task.target = function;
        last_ = {one.run, one.key};
        dispatch(std::move(one));
    }
    std::vector<std::string> begun() const {
        auto runs = std::vector<std::string>{};
        for (const auto& key : sink_.begun) {
            runs.push_back(key.substr(0, key.find('/')));
        }
        return runs;
    }

    std::pair<RunName, trigger::TaskKey> last_;
    std::vector<std::string> failures_;
};

TEST_F(PoolTest, CallsOfAllFunctionsShareItsSlots) {
    open_pool(2);
    dispatch_on("f", "a");
    dispatch_on("g", "b");
    dispatch_on("f", "c");
    EXPECT_THAT(begun(), ElementsAre("a", "b"));

    answer(1);

    EXPECT_THAT(begun(), ElementsAre("a", "b", "c"));
}

TEST_F(PoolTest, OthersDoNotWaitForIt) {
    open_pool(1);
    dispatch_on("f", "a");
    dispatch_on("f", "b");

    dispatch(call("free"));

    EXPECT_THAT(begun(), ElementsAre("a", "free"));
}

TEST_F(PoolTest, OneThatNeedsManyIsNotOvertaken) {
    open_pool(3);
    dispatch_on("f", "a");
    dispatch_on("g", "many", 3);
    dispatch_on("f", "b");
    EXPECT_THAT(begun(), ElementsAre("a"));

    answer(0);
    EXPECT_THAT(begun(), ElementsAre("a", "many"));
    answer(1);

    EXPECT_THAT(begun(), ElementsAre("a", "many", "b"));
}

TEST_F(PoolTest, OneThatNeedsMoreThanThereAreRunsAlone) {
    open_pool(2);
    dispatch_on("f", "a");
    dispatch_on("f", "huge", 100);
    dispatch_on("f", "b");

    EXPECT_THAT(runs_in_order(), ElementsAre("a", "huge", "b"));
}

TEST_F(PoolTest, HigherPrioritiesOfAnyFunctionGoFirst) {
    open_pool(1);
    dispatch_on("f", "a");
    dispatch_on("f", "low", 1, -5);
    dispatch_on("g", "plain");
    dispatch_on("g", "high", 1, 5);
    dispatch_on("f", "higher", 1, 9);

    EXPECT_THAT(runs_in_order(), ElementsAre("a", "higher", "high", "plain", "low"));
}

TEST_F(PoolTest, OneWhoseFunctionHasNoRoomDoesNotHoldTheSlots) {
    open_pool(1, 1);
    dispatch(call("busy")); // As many of f as may be.
    dispatch_on("g", "a");
    dispatch_on("f", "b");
    dispatch_on("g", "c");

    answer(1);
    EXPECT_THAT(begun(), ElementsAre("busy", "a", "c"));
    answer(0);
    EXPECT_THAT(begun(), ElementsAre("busy", "a", "c"));
    answer(2);

    EXPECT_THAT(begun(), ElementsAre("busy", "a", "c", "b"));
}

TEST_F(PoolTest, OneThatIsCalledOffMakesRoom) {
    open_pool(2);
    dispatch_on("f", "a");
    dispatch_on("g", "many", 2);
    auto many = last_;
    dispatch_on("f", "b");

    dispatcher_->cancel(many.first, many.second);

    EXPECT_THAT(begun(), ElementsAre("a", "b"));
    EXPECT_EQ(dispatcher_->pending(), 2U);
}

TEST_F(PoolTest, ItGrowsWhileCallsWait) {
    open_pool(1);
    dispatch_on("f", "a");
    dispatch_on("f", "b");
    dispatch_on("f", "c");

    dispatcher_->set_function("", "gpu", {.slots = 3});

    EXPECT_THAT(begun(), ElementsAre("a", "b", "c"));
}

TEST_F(PoolTest, AnUnknownPoolFailsTheCall) {
    open_pool(1);

    dispatch_on("f", "a", 1, 0, "tpu");
    dispatch_on("gpu", "b");

    EXPECT_THAT(failures_, ElementsAre("unknown_pool", "unknown_function"));
}

TEST_F(PoolTest, ThoseThatWaitFailWhenItGoes) {
    open_pool(1);
    dispatch_on("f", "a");
    dispatch_on("f", "b");

    dispatcher_->remove_function("", "gpu");

    EXPECT_THAT(failures_, ElementsAre("unknown_pool"));
    answer(0);
    EXPECT_EQ(dispatcher_->pending(), 0U);
}

/// Whatever comes and goes, the slots taken are never more than there are, and nothing is left
/// over.
TEST_F(PoolTest, NothingIsLostInAnyOrder) {
    open_pool(4, 3);
    auto random = Random{7};
    auto sent = std::size_t{0};
    for (auto round = 0; round < 2'000; ++round) {
        if (sent < 500 && random.chance(0.5)) {
            dispatch_on(random.chance(0.5) ? "f" : "g", fmt::format("r{}", sent++),
                        static_cast<std::int64_t>(1 + random.below(5)),
                        static_cast<std::int64_t>(random.below(3)));
            if (random.chance(0.1)) {
                dispatcher_->cancel(last_.first, last_.second);
            }
        } else if (!sink_.waiting.empty()) {
            auto at = random.below(sink_.waiting.size());
            if (sink_.waiting[at]) {
                answer(at);
            }
        }
    }

    runs_in_order();

    EXPECT_EQ(dispatcher_->pending(), 0U);
}

} // namespace
} // namespace sluice::engine
