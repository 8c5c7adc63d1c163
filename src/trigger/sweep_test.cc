#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trigger/apply.h"
#include "trigger/testing/decided_run.h"
#include "trigger/testing/state_bytes.h"

namespace sluice::trigger {
namespace {

constexpr auto many = R"({"name":"t","triggers":[
    {"id":"begin","on":["sluice.run.started","more"],"lifetime":"persistent","action":[
        {"invoke":{"function":"f","each":10,"scope":"x/${index}"}},
        {"schedule":{"timer":"t","after":"1h"}}]},
    {"id":"done","on":"sluice.task.succeeded"},
    {"id":"close","on":"close","lifetime":"persistent","action":{"close":"x"}},
    {"id":"item","on":"item","lifetime":"persistent"},
    {"id":"next","on":"next","action":"continue"},
    {"id":"fail","on":"fail","action":{"finish":{"error":"no"}}},
    {"id":"end","on":"end","action":"finish"}]})";

/// A run whose closings are more than a slice.
class SweepTest : public testing::DecidedRun {
protected:
    void begin() {
        limits_.slice_items_max = 4;
        start(many);
        while (state_.has_work()) {
            take_turn();
        }
        ASSERT_EQ(state_.tasks.size(), 10U);
    }

    /// How many turns it took.
    int sweep() {
        auto turns = 0;
        for (; state_.has_unswept(); ++turns) {
            auto before = entries().size();
            take_turn();
            EXPECT_LE(entries().at(before).changes.size(), 4U);
        }
        expect_folds();
        return turns;
    }

    void expect_folds() {
        auto folded = RunState{};
        folded.id = "run";
        for (const auto& entry : entries()) {
            fold(folded, entry);
        }
        EXPECT_EQ(testing::state_text(folded), testing::state_text(state_));
    }

    std::size_t cancelled() const {
        return static_cast<std::size_t>(
            std::ranges::count_if(journal_.effects, [](const Change& change) {
                const auto* closed = std::get_if<TaskClosed>(&change);
                return closed != nullptr && closed->is_cancelled;
            }));
    }
};

TEST_F(SweepTest, ClosesALargeScopeWithOneMark) {
    begin();
    auto key = state_.tasks.begin()->first;

    EXPECT_EQ(send("close"), Fate::Fired);

    EXPECT_EQ(entries().back().changes.size(), 3U) << "activated, fired, closed";
    EXPECT_EQ(cancelled(), 0U);
    EXPECT_FALSE(state_.scope_at("x"));
    EXPECT_FALSE(state_.scope_at("x/3"));
    EXPECT_EQ(send("item", "x/3"), Fate::Late);
    EXPECT_EQ(decide(task_arrival(state_, key, 1, {}, std::nullopt, {})), Fate::Late);
    expect_folds();
    EXPECT_GE(sweep(), 5) << "10 tasks and 11 scopes, 4 at a time";
    EXPECT_EQ(cancelled(), 10U);
    EXPECT_TRUE(state_.tasks.empty());
    EXPECT_TRUE(state_.scopes.empty());
    EXPECT_TRUE(state_.scoped_triggers.empty());
    EXPECT_EQ(state_.members.size(), 1U) << "the root has a timer";
}

TEST_F(SweepTest, OpensAPathAgainWhileTheScopeThatHadItIsSwept) {
    begin();
    send("close");
    send("more");
    take_turn();
    take_turn();
    EXPECT_TRUE(state_.scope_at("x/3"));
    EXPECT_EQ(send("item", "x/3"), Fate::Fired);
    auto incarnation = *state_.scope_at("x/3");

    sweep();

    EXPECT_EQ(state_.tasks.size(), 10U);
    EXPECT_EQ(state_.scopes.size(), 11U);
    EXPECT_EQ(*state_.scope_at("x/3"), incarnation);
    EXPECT_EQ(cancelled(), 10U);
}

TEST_F(SweepTest, EndsARunAtOnceAndSweepsItLater) {
    begin();

    EXPECT_EQ(send("end"), Fate::Fired);

    EXPECT_TRUE(state_.has_ended());
    EXPECT_EQ(send("item"), Fate::Late);
    EXPECT_EQ(cancelled(), 0U);
    expect_folds();
    sweep();
    EXPECT_EQ(cancelled(), 10U);
    EXPECT_TRUE(state_.tasks.empty());
    EXPECT_TRUE(state_.timers.empty());
    EXPECT_TRUE(state_.scopes.empty());
    EXPECT_TRUE(state_.members.empty());
    EXPECT_TRUE(state_.root_triggers.empty());
    EXPECT_FALSE(state_.has_work());
}

TEST_F(SweepTest, TakesTheLatestTasksFirst) {
    begin();
    send("end");
    auto first = state_.tasks.begin()->first;

    take_turn();

    EXPECT_EQ(state_.tasks.begin()->first, first);
    EXPECT_EQ(cancelled(), 4U);
}

TEST_F(SweepTest, LeavesTheScopesOfARunThatFailed) {
    begin();
    send("item", "x/3");
    send("close");
    send("more");
    while (state_.continuations.size() > 0) {
        take_turn();
    }
    send("fail");

    sweep();

    EXPECT_TRUE(state_.tasks.empty());
    EXPECT_EQ(state_.scopes.size(), 11U) << "those that were closed before are gone";
    EXPECT_EQ(cancelled(), 20U);
}

TEST_F(SweepTest, IsReopenedOnlyWhenItIsSwept) {
    begin();
    send("fail");
    auto reopen = [&] { return decide(command_arrival(state_, types::run_reopened, {}, {})); };
    EXPECT_EQ(reopen(), Fate::Late);

    sweep();

    EXPECT_EQ(reopen(), Fate::Handled);
    EXPECT_EQ(send("item", "x/3"), Fate::Fired);
    expect_folds();
}

TEST_F(SweepTest, ContinuesAsNewWhenItIsSwept) {
    begin();
    EXPECT_EQ(send("next"), Fate::Fired);
    EXPECT_EQ(send("item"), Fate::Parked);
    EXPECT_EQ(state_.info.generation, 1U);

    sweep();

    EXPECT_EQ(state_.info.generation, 2U);
    EXPECT_EQ(cancelled(), 10U);
    EXPECT_TRUE(state_.kept.empty());
    for (const auto& [key, task] : state_.tasks) {
        EXPECT_GT(key.fire, FireNumber{2});
    }
}

TEST_F(SweepTest, EndsWhatContinuesAsNewWhenItIsCancelledMeanwhile) {
    begin();
    send("next");
    take_turn();
    decide(command_arrival(state_, types::run_cancel, {}, {}));

    sweep();

    EXPECT_EQ(state_.progress.status, Status::Cancelled);
    EXPECT_EQ(cancelled(), 10U);
    EXPECT_TRUE(state_.tasks.empty());
}

TEST_F(SweepTest, LetsWhatLeavesForASinkBe) {
    limits_.slice_items_max = 2;
    start(R"({"name":"t","triggers":[
        {"id":"begin","on":"sluice.run.started","action":[
            {"emit":{"type":"a","to":{"sink":"s"}}},{"invoke":"f"},{"invoke":"g"},"finish"]}]})");
    auto key = state_.tasks.begin()->first;
    auto busy = event::Answer{.is_success = false, .error_kind = "busy"};
    decide(task_arrival(state_, key, 1, busy, Nanos{1}, {}));

    sweep();

    EXPECT_EQ(cancelled(), 2U);
    EXPECT_EQ(state_.tasks.size(), 1U);
    decide(timer_arrival(state_, TimerNumber{1}, {}));
    decide(task_arrival(state_, key, 2, {}, std::nullopt, {}));
    EXPECT_TRUE(state_.tasks.empty());
    expect_folds();
}

TEST_F(SweepTest, EndsLongActionsOfAClosedScope) {
    limits_.slice_items_max = 2;
    start(R"({"name":"t","triggers":[
        {"id":"begin","on":"sluice.run.started","action":[{"open":"x"},{"emit":{"type":"go","scope":"x"}}]},
        {"id":"go","on":"go","action":{"invoke":{"function":"f","each":9,"scope":"i${index}"}}},
        {"id":"close","on":"close","action":{"close":"x"}}]})");
    take_turn();
    ASSERT_FALSE(state_.continuations.empty());

    send("close");

    EXPECT_TRUE(state_.continuations.empty());
    sweep();
    EXPECT_TRUE(state_.tasks.empty());
}

} // namespace
} // namespace sluice::trigger
