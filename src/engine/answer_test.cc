#include <gtest/gtest.h>

#include "engine/testing/engine_fixture.h"

namespace sluice::engine {
namespace {

/// Answers that come by token, beside the sinks.
class AnswerTest : public testing::EngineFixture {
protected:
    void SetUp() override {
        EngineFixture::SetUp();
        define("asks", R"({"name":"asks","triggers":[
            {"id":"begin","on":"sluice.run.started","action":{"invoke":{"function":"silent",
             "retry":{"attempts":2,"interval":"1ms"}}}},
            {"id":"end","on":"sluice.task.succeeded","action":{"finish":{"result":"${data.result}"}}}]})");
    }

    Result<Value> answer(const std::string& token, event::Answer answer) {
        return testing::wait_for<Value>(
            [&](auto done) { engine_->answer(token, std::move(answer), std::move(done)); });
    }

    std::string fate_of(const Result<Value>& answered) {
        return answered ? std::string{answered->find("fate")->as_string()}
                        : answered.error().message;
    }
};

TEST_F(AnswerTest, ATokenBringsTheResult) {
    start("r1", "asks");
    auto call = sink_.await_silent();

    auto answered = answer(call.token, {.result = Value{7}});

    EXPECT_EQ(call.key, "r1/1/0");
    EXPECT_EQ(fate_of(answered), "fired");
    EXPECT_EQ(*wait_end("r1").find("result"), Value{7});
    EXPECT_EQ(sink_.cancelled(), std::vector{call.token}) << "its sink need not wait any more";
    expect_replays("r1");
}

TEST_F(AnswerTest, KeysOfTwoNamespacesDiffer) {
    auto task = trigger::TaskKey{.fire = trigger::FireNumber{3}, .index = 1};

    EXPECT_EQ(Dispatcher::key_of({.id = "r1"}, task), "r1/3/1");
    EXPECT_EQ(Dispatcher::key_of({.space = "team", .id = "r1"}, task), "team/r1/3/1");
}

TEST_F(AnswerTest, ASecondAnswerIsLate) {
    start("r1", "asks");
    auto token = sink_.await_silent().token;
    EXPECT_EQ(fate_of(answer(token, {.result = Value{7}})), "fired");

    auto again = answer(token, {.result = Value{8}});

    EXPECT_EQ(fate_of(again), "late");
    EXPECT_EQ(*wait_end("r1").find("result"), Value{7});
}

TEST_F(AnswerTest, AFailureIsRetriedAndItsAttemptIsClosed) {
    start("r1", "asks");
    auto first = sink_.await_silent(1);
    auto failed = event::Answer{.is_success = false, .error_kind = "flaky"};

    auto retried = answer(first.token, std::move(failed));
    auto second = sink_.await_silent(2);
    auto late = answer(first.token, {.result = Value{1}});
    auto counted = answer(second.token, {.result = Value{2}});

    EXPECT_EQ(fate_of(retried), "retried");
    EXPECT_EQ(second.key, first.key);
    EXPECT_NE(second.token, first.token);
    EXPECT_EQ(fate_of(late), "late");
    EXPECT_EQ(fate_of(counted), "fired");
    EXPECT_EQ(*wait_end("r1").find("result"), Value{2});
}

TEST_F(AnswerTest, ATokenThatWasMadeUpIsRefused) {
    start("r1", "asks");
    auto attempt = AttemptId{.run = {.id = "r1"}, .key = {.fire = trigger::FireNumber{1}}};
    auto forged = Tokens{Secret{}}.make(attempt);

    auto answered = answer(forged, {.result = Value{7}});

    ASSERT_FALSE(answered);
    EXPECT_EQ(answered.error().code, Errc::InvalidInput);
}

TEST_F(AnswerTest, TheTokenOfARunThatIsGoneMeansNoneOfItsName) {
    start("r1", "asks");
    auto old = sink_.await_silent(1).token;
    ASSERT_TRUE(testing::wait_for<Value>([&](auto done) {
        engine_->command({.id = "r1"}, "sluice.run.terminate", {}, std::move(done));
    }));
    ASSERT_TRUE(testing::wait_for<Value>(
        [&](auto done) { engine_->remove({.id = "r1"}, WhenRunning::Refuse, std::move(done)); }));
    start("r1", "asks");
    auto token = sink_.await_silent(2).token;

    EXPECT_EQ(fate_of(answer(old, {.result = Value{1}})), "late");
    EXPECT_EQ(fate_of(answer(token, {.result = Value{2}})), "fired");
}

TEST_F(AnswerTest, TheTokenOfAClosedScopeIsLate) {
    define("scoped", R"({"name":"scoped","triggers":[
        {"id":"begin","on":"sluice.run.started","action":{"invoke":{"function":"silent","scope":"part"}}},
        {"id":"stop","on":"stop","action":{"close":"part"}}]})");
    start("r1", "scoped");
    auto token = sink_.await_silent().token;
    send("r1", {"a"}, "stop");

    EXPECT_EQ(fate_of(answer(token, {.result = Value{1}})), "late");
}

TEST_F(AnswerTest, TokensOutliveARestart) {
    start("r1", "asks");
    auto before = sink_.await_silent(1);
    engine_.reset();

    open();
    auto again = sink_.await_silent(2);

    EXPECT_EQ(again.token, before.token);
    EXPECT_EQ(again.key, before.key);
    EXPECT_EQ(fate_of(answer(before.token, {.result = Value{3}})), "fired");
}

} // namespace
} // namespace sluice::engine
