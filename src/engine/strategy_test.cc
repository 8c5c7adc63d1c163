#include <gtest/gtest.h>

#include "engine/inspector.h"
#include "engine/run_index.h"
#include "engine/testing/stepped_lane.h"

namespace sluice::engine {
namespace {

/// Runs of one definition, which go on until they are told to end.
class StrategyTest : public ::testing::Test {
protected:
    void define(const std::string& strategy) {
        lane_.define(R"({"name":"nightly","strategy":)" + strategy + R"(,"triggers":[
            {"id":"end","on":"end","action":"finish"},
            {"id":"fail","on":"fail","action":{"finish":{"error":"as told"}}}]})");
    }

    void start(const std::string& runs) {
        for (auto run : runs) {
            lane_.start(std::string{run}, "nightly");
        }
    }

    void send(char run, const std::string& type) {
        auto event =
            event::Builder{std::to_string(++sent_), "test", type}.run(std::string{run}).build();
        lane_.take(EventsInput{.shard = lane_.shard_of_run(std::string{run}),
                               .space = "default",
                               .events = {std::move(event)}});
    }
    void end(char run) { send(run, "end"); }

    void command(char run, std::string_view type) {
        lane_.take(CommandInput{
            .run = {.id = std::string{run}}, .type = std::string{type}, .data = Value::object({})});
    }

    void deploy(Value strategy) {
        auto params = Value::object({{"strategy", std::move(strategy)}});
        auto action = Value::object({{std::string{trigger::admit_action}, std::move(params)}});
        lane_.take(CommandInput{.run = {.id = "definition/nightly"},
                                .type = std::string{trigger::types::run_command},
                                .data = Value::object({{"action", std::move(action)}})});
    }

    /// `a` runs, `b` is queued: "a:running b:queued".
    std::string statuses(const std::string& runs) {
        auto inspector = Inspector{lane_.store(), lane_.vocabulary()};
        auto text = std::string{};
        for (auto run : runs) {
            auto state = inspector.run({.id = std::string{run}});
            text += fmt::format("{}{}:{}", text.empty() ? "" : " ", run,
                                state ? to_string((*state)->progress.status) : "missing");
        }
        return text;
    }

    std::string error_kind(char run) {
        auto inspector = Inspector{lane_.store(), lane_.vocabulary()};
        auto state = inspector.run({.id = std::string{run}});
        const auto* kind = (*state)->progress.error.find("kind");
        return kind == nullptr ? "" : std::string{kind->as_string()};
    }

    testing::SteppedLane lane_;
    int sent_ = 0;
};

TEST_F(StrategyTest, SequentialRunsGoOneByOne) {
    define(R"("sequential")");

    start("abc");
    EXPECT_EQ(statuses("abc"), "a:running b:queued c:queued");
    end('a');
    EXPECT_EQ(statuses("abc"), "a:succeeded b:running c:queued");
    send('b', "fail");

    EXPECT_EQ(statuses("abc"), "a:succeeded b:failed c:running");
}

TEST_F(StrategyTest, ParallelRunsAreAsManyAsTheLimit) {
    define(R"({"parallel":2})");

    start("abcd");
    EXPECT_EQ(statuses("abcd"), "a:running b:running c:queued d:queued");
    command('a', trigger::types::run_cancel);
    command('b', trigger::types::run_terminate);

    EXPECT_EQ(statuses("abcd"), "a:cancelled b:cancelled c:running d:running");
}

TEST_F(StrategyTest, OneThatIsCancelledInTheQueueIsPassedOver) {
    define(R"("sequential")");
    start("abc");

    command('b', trigger::types::run_cancel);
    end('a');

    EXPECT_EQ(statuses("abc"), "a:succeeded b:cancelled c:running");
}

TEST_F(StrategyTest, FirstOnlySkipsTheOthers) {
    define(R"("first_only")");

    start("ab");
    EXPECT_EQ(statuses("ab"), "a:running b:cancelled");
    EXPECT_EQ(error_kind('b'), "skipped");
    end('a');
    start("c");

    EXPECT_EQ(statuses("abc"), "a:succeeded b:cancelled c:running");
}

TEST_F(StrategyTest, LastOnlyCancelsThoseBefore) {
    define(R"("last_only")");

    start("abc");

    EXPECT_EQ(statuses("abc"), "a:cancelled b:cancelled c:running");
    EXPECT_EQ(error_kind('a'), "superseded");
}

TEST_F(StrategyTest, LatestOnlyKeepsTheNewestWaiting) {
    define(R"("latest_only")");

    start("abc");
    EXPECT_EQ(statuses("abc"), "a:running b:cancelled c:queued");
    end('a');

    EXPECT_EQ(statuses("abc"), "a:succeeded b:cancelled c:running");
    EXPECT_EQ(error_kind('b'), "superseded");
}

TEST_F(StrategyTest, AReopenedRunWaitsForItsTurn) {
    define(R"("sequential")");
    start("ab");
    send('a', "fail");

    lane_.take(ReopenInput{.run = {.id = "a"}, .told = {}, .done = [](const auto&) {}});
    EXPECT_EQ(statuses("ab"), "a:queued b:running");
    end('b');

    EXPECT_EQ(statuses("ab"), "a:running b:succeeded");
}

TEST_F(StrategyTest, ANewVersionsStrategyHoldsForThoseThatWait) {
    define(R"("sequential")");
    start("abc");

    define(R"({"parallel":3})");
    start("d");

    EXPECT_EQ(statuses("abcd"), "a:running b:running c:running d:queued");
}

TEST_F(StrategyTest, ARunThatIsRemovedGivesItsPlaceBack) {
    define(R"("sequential")");
    start("ab");

    lane_.take(RemoveInput{.run = {.id = "a"}, .when_running = WhenRunning::Terminate, .done = {}});

    EXPECT_EQ(statuses("ab"), "a:missing b:running");
}

TEST_F(StrategyTest, ItSurvivesARestart) {
    define(R"("sequential")");
    start("abc");

    lane_.restart();
    lane_.settle();
    EXPECT_EQ(statuses("abc"), "a:running b:queued c:queued");
    end('a');

    EXPECT_EQ(statuses("abc"), "a:succeeded b:running c:queued");
}

TEST_F(StrategyTest, PlacesLeaveNothingBehind) {
    define(R"("sequential")");
    for (auto round = 0; round < 50; ++round) {
        auto run = static_cast<char>('A' + round);
        start(std::string{run});
        end(run);
    }

    auto inspector = Inspector{lane_.store(), lane_.vocabulary()};
    auto standing = inspector.run({.id = "definition/nightly"});

    ASSERT_TRUE(standing) << standing.error().message;
    EXPECT_LE((*standing)->scopes.size(), 3U) << "those that the runs were listed in";
    EXPECT_TRUE((*standing)->kept.empty());
}

TEST_F(StrategyTest, StandingRunsAreListedApart) {
    define(R"("sequential")");
    start("a");

    auto started = list_runs(lane_.store(), {});
    auto standing = list_runs(lane_.store(), {.listed = RunsListed::Standing});

    ASSERT_EQ(started->runs.size(), 1U);
    EXPECT_EQ(started->runs.front().run.id, "a");
    ASSERT_EQ(standing->runs.size(), 1U);
    EXPECT_EQ(standing->runs.front().run.id, "definition/nightly");
}

TEST_F(StrategyTest, HistoryOfBothSidesReplays) {
    define(R"("latest_only")");
    start("abc");
    end('a');
    end('c');

    auto inspector = Inspector{lane_.store(), lane_.vocabulary()};
    for (const auto* run : {"a", "b", "c", "definition/nightly"}) {
        auto report = replay(inspector, {.id = run}, {});
        ASSERT_TRUE(report) << report.error().message;
        EXPECT_EQ(report->difference_count, 0U)
            << run << ": " << (report->differences.empty() ? "" : report->differences.front().what);
    }
}

/// As `Engine::apply_strategy` tells the standing run.
TEST_F(StrategyTest, WhatIsDeployedCountsForThoseThatWait) {
    define(R"("sequential")");
    start("abcd");

    deploy(Value::object({{"parallel", 2}}));
    EXPECT_EQ(statuses("abcd"), "a:running b:running c:queued d:queued");
    start("e"); // Of the version before.
    EXPECT_EQ(statuses("e"), "e:queued");
    end('a');
    EXPECT_EQ(statuses("bcde"), "b:running c:running d:queued e:queued");
    deploy("parallel");

    EXPECT_EQ(statuses("bcde"), "b:running c:running d:running e:running");
}

TEST_F(StrategyTest, WhoGivesAPlaceBackStartsNoStandingRun) {
    define(R"("sequential")");
    start("a");
    lane_.take(RemoveInput{
        .run = {.id = "definition/nightly"}, .when_running = WhenRunning::Terminate, .done = {}});

    end('a');

    EXPECT_EQ(statuses("a"), "a:succeeded");
    auto inspector = Inspector{lane_.store(), lane_.vocabulary()};
    EXPECT_EQ(inspector.run({.id = "definition/nightly"}).error().code, Errc::NotFound);
}

} // namespace
} // namespace sluice::engine
