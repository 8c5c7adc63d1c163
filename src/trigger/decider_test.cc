#include "trigger/decider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trigger/apply.h"
#include "trigger/testing/decided_run.h"
#include "trigger/testing/state_bytes.h"

namespace sluice::trigger {
namespace {

using ::testing::ElementsAre;

class DeciderTest : public testing::DecidedRun {};

TEST_F(DeciderTest, LetsNoFurtherTriggerSeeAnEventWhoseScopeAnEarlierOneClosed) {
    start(R"({"name":"t","triggers":[
        {"id":"open","on":"sluice.run.started","action":{"open":"x"}},
        {"id":"close","on":"a","action":"close"},
        {"id":"behind","on":"a","condition":{"count":2}}]})");

    EXPECT_EQ(send("a", "x"), Fate::Fired);

    EXPECT_TRUE(state_.scoped_triggers.empty());
}

TEST_F(DeciderTest, IsLateWithAKeptEventWhoseScopeWasClosedAndOpenedAgain) {
    start(R"({"name":"t","triggers":[
        {"id":"open","on":["sluice.run.started","open"],"action":{"open":"x"},"lifetime":"persistent"},
        {"id":"close","on":"close","action":{"close":"/x"}},
        {"id":"waits","on":"a","enabled":false},
        {"id":"enable","on":"enable","action":{"enable":"waits"}}]})");

    EXPECT_EQ(send("a", "x"), Fate::Parked);
    send("close");
    send("open");
    send("enable", "x");

    EXPECT_THAT(fates(), ElementsAre(Fate::Fired, Fate::Parked, Fate::Fired, Fate::Late,
                                     Fate::Fired, Fate::Fired));
    EXPECT_TRUE(state_.kept.empty());
}

TEST_F(DeciderTest, ClosesAScopeWithOneInsideThatWasOpenedBeforeIt) {
    start(R"({"name":"t","triggers":[
        {"id":"open","on":"sluice.run.started","action":[{"open":"x/y"},{"open":"x"},{"close":"x"}]}]})");

    EXPECT_TRUE(state_.scopes.empty());
    EXPECT_EQ(send("a", "x/y"), Fate::Late);
}

TEST_F(DeciderTest, FaultsWhenAnActionNeedsTheScopeThatAnEarlierOneClosed) {
    start(R"({"name":"t","triggers":[
        {"id":"open","on":"sluice.run.started","action":{"open":"x"}},
        {"id":"acts","on":"a","action":["close",{"emit":"b"}],"on_error":"skip"}]})");

    EXPECT_EQ(send("a", "x"), Fate::Failed);

    EXPECT_TRUE(state_.queue.empty());
    EXPECT_FALSE(state_.has_ended());
}

TEST_F(DeciderTest, SeesPathsFromTheScopeOfItsFiringThoughAnInterceptorClosedIt) {
    start(R"({"name":"t","triggers":[
        {"id":"open","on":"sluice.run.started","action":{"open":"x/y"}},
        {"id":"acts","on":"a","action":{"open":".."}},
        {"id":"closes","intercept":{"trigger":"acts"},"action":{"close":"/x"}}]})");

    send("a", "x/y");

    EXPECT_TRUE(state_.scope_at("x").has_value());
}

TEST_F(DeciderTest, FaultsWhenATriggerSetsItsContextAfterRemovingItself) {
    start(R"({"name":"t","triggers":[
        {"id":"acts","on":"a","action":[{"remove":"acts"},{"set":{"context":{"n":1}}}],"on_error":"skip"}]})");

    EXPECT_EQ(send("a"), Fate::Failed);
}

TEST_F(DeciderTest, FailsARunWhoseTriggersFireEachOtherWithoutEnd) {
    start(R"({"name":"t","triggers":[
        {"id":"again","on":"a","condition":{"count":1},"lifetime":"persistent","on_error":"skip",
         "action":[{"set":{"triggers":{"again":{"n":0}}}},{"set":{"triggers":{"again":{"n":0}}}}]}]})");

    EXPECT_EQ(send("a"), Fate::Failed);

    EXPECT_EQ(state_.progress.status, Status::Failed);
    EXPECT_EQ(*state_.progress.error.find("kind"), Value{"budget"});
}

TEST_F(DeciderTest, DeliversKeptEventsEvenWhenATurnIsUsedUp) {
    limits_.own_events_per_turn_max = 1;
    start(R"({"name":"t","triggers":[
        {"id":"items","on":"item","enabled":false,"lifetime":"persistent"},
        {"id":"open","on":"open","action":{"emit":"opened"}},
        {"id":"opened","on":"opened","action":{"enable":"items"}}]})");
    send("item");
    send("item");

    send("open");

    EXPECT_TRUE(state_.kept.empty());
    EXPECT_EQ(state_.progress.fires, 4U);
}

TEST_F(DeciderTest, TakesARefusedEventOfANumberedSourceWhenItComesAgain) {
    start(R"({"name":"t","dedupe":"sequence","kept":{"max":0},"triggers":[
        {"id":"add","on":"add","action":{"add":{"id":"a","on":"a"}}}]})");
    EXPECT_EQ(send("a", "", "1"), Fate::Refused);
    send("add");

    EXPECT_EQ(send("a", "", "1"), Fate::Fired);
    EXPECT_EQ(send("a", "", "1"), Fate::Duplicate);
}

TEST_F(DeciderTest, ForgetsTheOldestIdsBeyondTheBoundOnceTheyAreOldEnough) {
    limits_.seen_ids_max = 2;
    limits_.seen_age_max = std::chrono::hours{8};
    start(R"({"name":"t","triggers":[{"id":"a","on":"a","lifetime":"persistent"}]})");
    auto send_at = [&](const std::string& id, int hour) {
        return decide({.event = event::Builder{id, "test", "a"}.build(),
                       .moment = {.time = Time{std::chrono::hours{hour}}}});
    };
    send_at("1", 0);
    send_at("2", 2);
    EXPECT_EQ(send_at("1", 8), Fate::Duplicate); // Its period may have lasted until one.
    EXPECT_FALSE(state_.progress.ids_forgotten_before);

    EXPECT_EQ(send_at("1", 9), Fate::Fired);

    EXPECT_EQ(state_.progress.ids_forgotten_before, Time{std::chrono::hours{1}});
    EXPECT_EQ(send_at("2", 9), Fate::Duplicate);
}

TEST_F(DeciderTest, RemembersEveryIdBelowTheBoundHoweverOldItIs) {
    start(R"({"name":"t","triggers":[{"id":"a","on":"a","lifetime":"persistent"}]})");
    auto event = event::Builder{"1", "test", "a"}.build();
    decide({.event = event, .moment = {}});

    EXPECT_EQ(decide({.event = event, .moment = {.time = Time{std::chrono::hours{9'000}}}}),
              Fate::Duplicate);
}

TEST_F(DeciderTest, TakesAnIdAgainWhenItsWindowIsOver) {
    start(R"({"name":"t","dedupe":{"window":"8m"},
              "triggers":[{"id":"a","on":"a","lifetime":"persistent"}]})");
    auto send_at = [&](int minute) {
        return decide({.event = event::Builder{"1", "test", "a"}.build(),
                       .moment = {.time = Time{std::chrono::minutes{minute}}}});
    };
    send_at(0);

    EXPECT_EQ(send_at(8), Fate::Duplicate);
    EXPECT_EQ(send_at(9), Fate::Fired);
}

TEST_F(DeciderTest, TriesADeliveryToASinkAgainThoughItsRunHasEnded) {
    start(R"({"name":"t","triggers":[
        {"id":"note","on":"a","action":{"emit":{"type":"noted","to":{"sink":"s"}}}},
        {"id":"end","on":"b","action":"finish"}]})");
    send("a");
    auto key = TaskKey{.fire = FireNumber{1}};
    auto failed = event::Answer{.is_success = false, .error_kind = "busy"};
    decide(task_arrival(state_, key, 1, failed, Nanos{1}, {}));
    send("b");

    decide(timer_arrival(state_, TimerNumber{1}, {}));
    EXPECT_FALSE(state_.tasks.at(key).is_waiting);
    decide(task_arrival(state_, key, 2, failed, Nanos{1}, {}));
    decide(timer_arrival(state_, TimerNumber{2}, {}));
    decide(task_arrival(state_, key, 3, {}, std::nullopt, {}));

    EXPECT_TRUE(state_.tasks.empty());
    EXPECT_TRUE(state_.timers.empty());
}

TEST_F(DeciderTest, FaultsWhenATriggerIsToGetAnotherId) {
    start(R"({"name":"t","triggers":[
        {"id":"acts","on":"a","on_error":"skip","lifetime":"persistent",
         "action":{"modify":{"trigger":"${data.of}","set":{"id":"other","filter":"true"}}}},
        {"id":"other","on":"b"}]})");

    EXPECT_EQ(send_data("a", Value::object({{"of", "acts"}})), Fate::Failed);
    EXPECT_EQ(send_data("a", Value::object({{"of", "other"}})), Fate::Fired);

    EXPECT_TRUE(triggers_->find("acts").has_value());
}

TEST_F(DeciderTest, KeepsWhatComesToAPausedRunInOrderUntilItIsResumed) {
    start(R"({"name":"t","context":{"seen":""},"triggers":[
        {"id":"note","on":"a","lifetime":"persistent",
         "action":{"set":{"run":{"seen":"${run.context.seen + event.id}"}}}}]})");
    auto command = [&](std::string_view type) {
        return decide(command_arrival(state_, type, {}, moment_));
    };
    send("a");
    EXPECT_EQ(command(types::run_pause), Fate::Handled);
    EXPECT_EQ(command(types::run_pause), Fate::Late);
    EXPECT_EQ(send("a"), Fate::Parked);
    EXPECT_EQ(send("a"), Fate::Parked);
    EXPECT_EQ(*state_.context.find("seen"), Value{"1"});

    EXPECT_EQ(command(types::run_resume), Fate::Handled);

    EXPECT_EQ(*state_.context.find("seen"), Value{"123"});
    EXPECT_EQ(command(types::run_resume), Fate::Late);
    EXPECT_EQ(send("a"), Fate::Fired);
}

TEST_F(DeciderTest, LeavesWhatATriggerHoldsHeldWhenThePausedRunIsResumed) {
    start(R"({"name":"t","triggers":[
        {"id":"hold","on":"a","action":"hold"},{"id":"b","on":"b"}]})");
    send("a");
    decide(command_arrival(state_, types::run_pause, {}, moment_));
    decide(command_arrival(state_, types::run_resume, {}, moment_));

    EXPECT_EQ(send("b"), Fate::Parked);
}

TEST_F(DeciderTest, CancelsAPausedRun) {
    start(R"({"name":"t","triggers":[{"id":"a","on":"a"}]})");
    decide(command_arrival(state_, types::run_pause, {}, moment_));

    EXPECT_EQ(decide(command_arrival(state_, types::run_cancel, {}, moment_)), Fate::Handled);

    EXPECT_FALSE(state_.is_paused());
    EXPECT_EQ(state_.progress.status, Status::Cancelled);
}

TEST_F(DeciderTest, SaysWhyACommandFailed) {
    start(R"({"name":"t","triggers":[{"id":"a","on":"a"}]})");
    auto action = Value::object({{"enable", "none"}});

    decide(
        command_arrival(state_, types::run_command, Value::object({{"action", action}}), moment_));

    const auto& reply = std::get<Replied>(journal_.effects.back());
    EXPECT_EQ(*reply.data.find("error")->find("code"), Value{"no_such_trigger"});
}

TEST_F(DeciderTest, FoldsLateEventsOfAnEndedRunToTheSameState) {
    start(R"({"name":"t","triggers":[
        {"id":"emit","on":"a","action":{"emit":"b"}},{"id":"end","on":"b","action":"finish"}]})");
    send("a");
    send("a");

    auto folded = RunState{};
    folded.id = "run";
    for (const auto& entry : entries()) {
        fold(folded, entry);
    }

    EXPECT_EQ(testing::state_text(folded), testing::state_text(state_));
}

} // namespace
} // namespace sluice::trigger
