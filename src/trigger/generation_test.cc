#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trigger/apply.h"
#include "trigger/testing/decided_run.h"
#include "trigger/testing/state_bytes.h"

namespace sluice::trigger {
namespace {

/// A run that ends its generations: its history must add up to what it is, from the beginning and
/// from its last generation's.
class GenerationTest : public testing::DecidedRun {
protected:
    void expect_folds() {
        auto all = RunState{};
        auto last = RunState{};
        all.id = last.id = "run";
        for (const auto& entry : entries()) {
            fold(all, entry);
            for (const auto& change : entry.changes) {
                if (std::holds_alternative<Renewed>(change)) {
                    last = RunState{};
                    last.id = "run";
                }
            }
            fold(last, entry);
        }
        EXPECT_EQ(testing::state_text(all), testing::state_text(state_));
        EXPECT_EQ(testing::state_text(last), testing::state_text(state_));
    }

    Fate reopen() { return decide(command_arrival(state_, types::run_reopened, {}, moment_)); }
};

TEST_F(GenerationTest, ContinuesAsNewWithTheInputAndContextItChose) {
    start(R"({"name":"t","context":{"a":0,"b":0},"triggers":[
        {"id":"set","on":"sluice.run.started","action":{"set":{"run":{"a":1,"b":2,"c":3}}},
         "filter":"run.generation == 1"},
        {"id":"go","on":"go","action":[
            {"continue":{"input":"${run.generation}","context":{"d":4},"keep":["a","c","nothing"]}},
            {"emit":"never"}]}]})");

    EXPECT_EQ(send("go"), Fate::Fired);

    EXPECT_EQ(state_.info.generation, 2U);
    EXPECT_EQ(state_.info.input, Value{1});
    EXPECT_EQ(value::to_json(state_.context), R"({"a":1,"b":0,"c":3,"d":4})");
    EXPECT_FALSE(state_.is_over());
    EXPECT_EQ(send("go"), Fate::Fired) << "a transient trigger is there again";
    EXPECT_EQ(state_.info.generation, 3U);
    expect_folds();
}

TEST_F(GenerationTest, NeverGivesANumberAgain) {
    start(R"({"name":"t","triggers":[
        {"id":"begin","on":"sluice.run.started","action":[
            {"invoke":{"function":"f","scope":"x"}},{"schedule":{"timer":"t","after":"1h"}}]},
        {"id":"go","on":"go","action":"continue"}]})");
    send("go");

    EXPECT_EQ(state_.tasks.begin()->first.fire, FireNumber{3});
    EXPECT_EQ(state_.timers.begin()->first, TimerNumber{2});
    EXPECT_EQ(state_.scopes.at("x").incarnation, Incarnation{2});
    auto late = task_arrival(state_, {.fire = FireNumber{1}}, 1, {}, std::nullopt, {});
    EXPECT_EQ(decide(late), Fate::Late);
    expect_folds();
}

TEST_F(GenerationTest, CancelsWhatTheGenerationBeforeHadOpen) {
    start(R"({"name":"t","triggers":[
        {"id":"begin","on":"sluice.run.started","filter":"run.generation == 1","action":[
            {"invoke":{"function":"f","scope":"x"}},{"invoke":"g"},
            {"add":{"id":"added","on":"more","lifetime":"persistent"}}]},
        {"id":"go","on":"go","action":"continue"}]})");
    EXPECT_EQ(send("more"), Fate::Fired);
    journal_.effects.clear();
    send("go");

    auto cancelled = std::ranges::count_if(journal_.effects, [](const Change& change) {
        const auto* closed = std::get_if<TaskClosed>(&change);
        return closed != nullptr && closed->is_cancelled;
    });
    EXPECT_EQ(cancelled, 2);
    EXPECT_TRUE(state_.tasks.empty());
    EXPECT_TRUE(state_.scopes.empty());
    EXPECT_EQ(send("more"), Fate::Kept) << "what was added at run time is gone";
    expect_folds();
}

TEST_F(GenerationTest, OffersKeptEventsToTheNextGenerationOnce) {
    start(R"({"name":"t","triggers":[
        {"id":"begin","on":"sluice.run.started","filter":"run.generation == 2","action":{"enable":"items"}},
        {"id":"items","on":"item","enabled":false,"lifetime":"persistent"},
        {"id":"go","on":"go","action":"continue"}]})");
    auto item = Arrival{.event = event::Builder{"item", "test", "item"}.build(), .moment = {}};
    EXPECT_EQ(decide(item), Fate::Parked);
    send("go");

    EXPECT_TRUE(state_.kept.empty());
    EXPECT_EQ(entries().back().fate, Fate::Fired);
    EXPECT_EQ(decide(item), Fate::Duplicate);
    expect_folds();
}

TEST_F(GenerationTest, BeginsDedupeAnew) {
    start(R"({"name":"t","triggers":[{"id":"go","on":"go","action":"continue"}]})");
    auto go = Arrival{.event = event::Builder{"go", "test", "go"}.build(), .moment = {}};

    EXPECT_EQ(decide(go), Fate::Fired);
    EXPECT_EQ(decide(go), Fate::Fired);

    EXPECT_EQ(state_.info.generation, 3U);
}

TEST_F(GenerationTest, FailsARunThatContinuesWithoutEnd) {
    limits_.own_events_max = 20;
    limits_.own_events_per_turn_max = 3;
    start(
        R"({"name":"t","triggers":[{"id":"begin","on":"sluice.run.started","action":"continue"}]})");
    EXPECT_EQ(state_.info.generation, 4U);
    EXPECT_TRUE(state_.has_work());

    for (auto turn = 0; turn < 10; ++turn) {
        take_turn();
    }

    EXPECT_EQ(state_.progress.status, Status::Failed);
    EXPECT_EQ(*state_.progress.error.find("kind"), Value{"budget"});
    expect_folds();
}

TEST_F(GenerationTest, KeepsEventsThatComeBetweenTwoGenerations) {
    limits_.own_events_per_turn_max = 0;
    start(R"({"name":"t","triggers":[
        {"id":"go","on":"go","action":"continue"},{"id":"item","on":"item"}]})");
    send("go");
    EXPECT_EQ(send("item"), Fate::Parked);
    EXPECT_EQ(send("item", "x"), Fate::Late);
    limits_.own_events_per_turn_max = 1;

    take_turn();

    EXPECT_EQ(entries().back().fate, Fate::Fired);
    EXPECT_EQ(state_.info.generation, 2U);
    expect_folds();
}

TEST_F(GenerationTest, CanBeCancelledBetweenTwoGenerations) {
    limits_.own_events_per_turn_max = 0;
    start(R"({"name":"t","triggers":[{"id":"go","on":"go","action":"continue"}]})");
    send("go");

    EXPECT_EQ(decide(command_arrival(state_, types::run_cancel, {}, moment_)), Fate::Handled);

    EXPECT_EQ(state_.progress.status, Status::Cancelled);
    EXPECT_FALSE(state_.has_work());
    expect_folds();
}

TEST_F(GenerationTest, EndsAsCancelledThoughItWouldContinue) {
    start(R"({"name":"t","triggers":[{"id":"c","on":"sluice.run.cancel","action":"continue"}]})");

    decide(command_arrival(state_, types::run_cancel, {}, moment_));

    EXPECT_EQ(state_.progress.status, Status::Cancelled);
}

TEST_F(GenerationTest, ArmsItsTimeoutForEachGeneration) {
    start(R"({"name":"t","timeout":"1h","triggers":[{"id":"go","on":"go","action":"continue"}]})");
    moment_.steady += std::chrono::minutes{30};
    send("go");

    ASSERT_EQ(state_.timers.size(), 1U);
    EXPECT_EQ(state_.timers.begin()->second.due, Time{std::chrono::minutes{90}});
}

TEST_F(GenerationTest, ReopensAFailedRunWithWhatItRemembers) {
    start(R"({"name":"t","timeout":"1h","triggers":[
        {"id":"begin","on":"sluice.run.started","action":[{"open":{"scope":"x","variables":{"v":1}}},
            {"set":{"run":{"n":1}}}]},
        {"id":"join","on":"item","condition":{"count":2},"action":{"finish":{"result":"${run.context.n}"}}},
        {"id":"again","on":"sluice.run.reopened","action":{"set":{"run":{"n":"${run.generation}"}}}},
        {"id":"fail","on":"fail","action":{"finish":{"error":"no"}}}]})");
    send("item");
    send("fail");
    EXPECT_TRUE(state_.timers.empty());
    EXPECT_EQ(send("item"), Fate::Late);

    EXPECT_EQ(reopen(), Fate::Fired);

    EXPECT_EQ(state_.progress.status, Status::Running);
    EXPECT_EQ(state_.info.generation, 2U);
    EXPECT_EQ(state_.timers.size(), 1U);
    EXPECT_TRUE(state_.scope_at("x"));
    EXPECT_EQ(send("item"), Fate::Fired);
    EXPECT_EQ(state_.progress.result, Value{2});
    EXPECT_EQ(reopen(), Fate::Late) << "it has succeeded";
    expect_folds();
}

TEST_F(GenerationTest, OffersAFailedEventAgainWhenReopened) {
    start(R"({"name":"t","triggers":[
        {"id":"picky","on":"item","filter":"run.context.limit > 1","on_error":"park"},
        {"id":"fail","on":"fail","action":{"finish":{"error":"no"}}},
        {"id":"again","on":"sluice.run.reopened","action":{"set":{"run":{"limit":2}}}}]})");
    EXPECT_EQ(send("item"), Fate::Failed);
    send("fail");

    reopen();

    EXPECT_TRUE(state_.kept.empty());
    EXPECT_EQ(entries().back().fate, Fate::Fired);
    expect_folds();
}

TEST_F(GenerationTest, RestartsTheTimeToLiveOfKeptEventsWhereItStood) {
    start(R"({"name":"t","kept":{"ttl":"1h"},"triggers":[
        {"id":"fail","on":"fail","action":{"finish":{"error":"no"}}}]})");
    send("item");
    send("fail");
    moment_.time += std::chrono::minutes{20};

    reopen();

    ASSERT_EQ(state_.timers.size(), 1U);
    EXPECT_EQ(state_.timers.begin()->second.due, Time{std::chrono::minutes{40}});
}

} // namespace
} // namespace sluice::trigger
