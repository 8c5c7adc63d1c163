#include <gtest/gtest.h>

#include "engine/testing/engine_fixture.h"

namespace sluice::engine {
namespace {

using testing::wait_for;

/// Results that are kept beside the store.
class LargeResultTest : public testing::EngineFixture {
protected:
    void SetUp() override {
        EngineFixture::SetUp();
        define("passes", R"({"name":"passes","triggers":[
            {"id":"begin","on":"sluice.run.started","action":{"invoke":
                {"function":"echo","input":"${data.input}","subject":"one","large":"kept"}}},
            {"id":"next","on":{"type":"sluice.task.succeeded","subject":"one"},"action":{"invoke":
                {"function":"silent","input":{"got":"${data.result}"},"subject":"two"}}},
            {"id":"end","on":{"type":"sluice.task.*","subject":"two"},"action":{"finish":
                {"result":"${[data]}"}}}]})");
        define("gives", R"({"name":"gives","triggers":[
            {"id":"begin","on":"sluice.run.started","action":{"invoke":
                {"function":"echo","input":"${data.input}","large":"root"}}},
            {"id":"end","on":"sluice.task.succeeded","action":{"finish":{"result":"${data.result}"}}}]})");
        define("starts", R"({"name":"starts","triggers":[
            {"id":"begin","on":"sluice.run.started","action":{"start":
                {"definition":"gives","input":"${data.input}"}}},
            {"id":"end","on":"sluice.run.succeeded","action":{"finish":{"result":"${size(data.result)}"}}}]})");
        define("asks", R"({"name":"asks","triggers":[
            {"id":"begin","on":"sluice.run.started","action":{"invoke":
                {"function":"silent","large":"kept"}}},
            {"id":"end","on":"sluice.task.succeeded","action":{"finish":{"result":"${data.result}"}}}]})");
    }

    Value stored_result(const std::string& run) {
        auto state = Inspector{store_, vocabulary_}.run({.id = run});
        return state ? (*state)->progress.result : Value{state.error().message};
    }

    Value large_{std::string(300'000, 'x')};
};

TEST_F(LargeResultTest, ACallSeesWhatAReferenceStandsFor) {
    start("r1", "passes", large_);

    auto call = sink_.await_silent();

    EXPECT_EQ(call.payload, Value::object({{"got", large_}}));
    auto stored = (*Inspector{store_, vocabulary_}.run({.id = "r1"}))->tasks.begin()->second.input;
    EXPECT_TRUE(references_->has_any(stored));
    EXPECT_FALSE(is_larger_than(stored, 300)) << "history has the reference";
}

TEST_F(LargeResultTest, WhoeverWaitsForARunGetsItsResult) {
    auto ending = start_and_wait("r1", "gives", large_);

    EXPECT_EQ(*ending.find("result"), large_);
    EXPECT_TRUE(references_->has_any(stored_result("r1")));
    EXPECT_EQ(*start_and_wait("r2", "gives", Value{"small"}).find("result"), Value{"small"});
    EXPECT_EQ(stored_result("r2"), Value{"small"});
    expect_replays("r1");
}

TEST_F(LargeResultTest, AnExpressionOfTheRunThatStartedItSeesNone) {
    auto ending = start_and_wait("r1", "starts", large_);

    EXPECT_EQ(*ending.find("result"), Value{300'000});
    EXPECT_EQ(objects_.owners(), std::vector<store::ObjectOwner>{});
}

TEST_F(LargeResultTest, AnAnswerByTokenIsKeptToo) {
    start("r1", "asks");
    auto token = sink_.await_silent().token;

    auto answered = wait_for<Value>(
        [&](auto done) { engine_->answer(token, {.result = large_}, std::move(done)); });

    ASSERT_TRUE(answered) << answered.error().message;
    EXPECT_EQ(*wait_end("r1").find("result"), large_);
    EXPECT_TRUE(references_->has_any(stored_result("r1")));
}

TEST_F(LargeResultTest, GoesWithItsRun) {
    start_and_wait("r1", "gives", large_);
    start_and_wait("r2", "gives", large_);

    auto removed = wait_for<Value>(
        [&](auto done) { engine_->remove({.id = "r1"}, WhenRunning::Refuse, std::move(done)); });

    ASSERT_TRUE(removed) << removed.error().message;
    EXPECT_EQ(objects_.owners(), (std::vector<store::ObjectOwner>{{"default", "r2"}}));
}

TEST_F(LargeResultTest, AStartRemovesThoseOfRunsThatAreGone) {
    start_and_wait("r1", "gives", large_);
    engine_.reset();
    EXPECT_TRUE(objects_.put({"default", "gone"}, "left by a crash"));

    open();

    EXPECT_EQ(objects_.owners(), (std::vector<store::ObjectOwner>{{"default", "r1"}}));
}

TEST_F(LargeResultTest, ACallWhoseInputIsGoneFailsAndSaysSo) {
    start("r1", "passes", large_);
    sink_.await_silent();
    engine_.reset();
    EXPECT_EQ(objects_.remove_all({"default", "r1"}), true);

    open(); // The call was not answered: it is made again.

    auto data = wait_end("r1").find("result")->as_list()[0];
    EXPECT_EQ(*data.find("error")->find("kind"), Value{"object_missing"});
}

TEST_F(LargeResultTest, AForkHasThemToo) {
    start_and_wait("r1", "gives", large_);
    auto forked = wait_for<Value>([&](auto done) {
        engine_->fork({.id = "r1"}, trigger::EventNumber{2}, "r2", std::move(done));
    });
    ASSERT_TRUE(forked) << forked.error().message;

    auto removed = wait_for<Value>(
        [&](auto done) { engine_->remove({.id = "r1"}, WhenRunning::Refuse, std::move(done)); });

    EXPECT_TRUE(removed);
    EXPECT_EQ(objects_.owners(), (std::vector<store::ObjectOwner>{{"default", "r2"}}));
    EXPECT_EQ(*wait_end("r2").find("result"), large_);
}

} // namespace
} // namespace sluice::engine
