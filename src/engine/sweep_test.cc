#include <gtest/gtest.h>

#include "engine/testing/stepped_shard.h"

// What a shard does with more that is closed than one commit should hold.
namespace sluice::engine {
namespace {

constexpr auto tasks = 500;
constexpr auto slice = 100;

class ShardSweep : public ::testing::Test {
protected:
    void SetUp() override {
        shard_.start("r", R"({"name":"t","triggers":[
            {"id":"begin","on":"sluice.run.started",
             "action":{"invoke":{"function":"f","each":500,"scope":"x/${index}"}}},
            {"id":"fail","on":"fail","action":{"finish":{"error":"no"}}},
            {"id":"again","on":"sluice.run.reopened","action":"finish"},
            {"id":"end","on":"end","action":"finish"}]})");
        shard_.commit();
        turn_until_quiet();
    }

    struct Turns {
        int count = 0;
        std::size_t cancelled = 0;
        std::size_t calls = 0;
        std::size_t bytes = 0; ///< Of the largest commit.
    };
    Turns turn_until_quiet() {
        auto turns = Turns{};
        while (shard_.shard().has_turns()) {
            EXPECT_TRUE(shard_.shard().take_turns());
            if (!shard_.shard().has_changes()) {
                continue;
            }
            auto release = shard_.commit();
            ++turns.count;
            turns.cancelled += release.cancelled.size();
            turns.calls += release.calls.size();
            turns.bytes = std::max(turns.bytes, shard_.commit_bytes());
        }
        return turns;
    }

    std::size_t keys_left(char table) {
        auto prefix = keys::table(ShardId{0}, table);
        auto count = std::size_t{0};
        for (auto cursor = shard_.store().scan(prefix, keys::end_of(prefix)); cursor->is_valid();
             cursor->next()) {
            ++count;
        }
        return count;
    }

    testing::SteppedShard shard_{{.slice_items_max = slice}};
};

TEST_F(ShardSweep, EndsARunInOneSmallCommitAndCancelsItsCallsInSlices) {
    shard_.send("r", "end");
    auto release = shard_.commit();
    EXPECT_EQ(release.cancelled.size(), 0U);
    EXPECT_LT(shard_.commit_bytes(), 2'000U);
    EXPECT_EQ(shard_.state("r")->progress.status, trigger::Status::Succeeded);

    auto turns = turn_until_quiet();

    EXPECT_EQ(turns.cancelled, static_cast<std::size_t>(tasks));
    EXPECT_GE(turns.count, 10) << "a task and a scope each";
    EXPECT_LT(turns.bytes, 30'000U);
    EXPECT_EQ(keys_left('O'), 0U);
    EXPECT_TRUE(shard_.state("r")->scopes.empty());
    EXPECT_EQ(shard_.replayed("r").difference_count, 0U);
}

TEST_F(ShardSweep, GoesOnAfterACrashAndCallsNothingThatIsClosed) {
    shard_.send("r", "end");
    shard_.commit();
    ASSERT_TRUE(shard_.shard().take_turns());
    shard_.commit();

    EXPECT_EQ(shard_.open().calls.size(), 0U);
    auto turns = turn_until_quiet();

    EXPECT_EQ(turns.cancelled, static_cast<std::size_t>(tasks - slice));
    EXPECT_EQ(keys_left('O'), 0U);
    EXPECT_TRUE(shard_.state("r")->tasks.empty());
    EXPECT_EQ(shard_.replayed("r").difference_count, 0U);
}

TEST_F(ShardSweep, TellsWhoWaitsToReopenARunThatItWasRemoved) {
    auto code = std::optional<Errc>{};
    shard_.send("r", "fail");
    shard_.take(ReopenInput{.run = {.id = "r"},
                            .done = [&](Result<Value> answer) { code = answer.error().code; }});
    shard_.commit();

    shard_.take(RemoveInput{
        .run = {.id = "r"}, .when_running = WhenRunning::Terminate, .done = [](Result<Value>) {}});
    for (auto& answer : shard_.commit().answers) {
        answer(nullptr);
    }

    EXPECT_EQ(code, Errc::NotFound);
}

TEST_F(ShardSweep, ReopensARunWhenItIsSwept) {
    auto generation = std::optional<Value>{};
    shard_.send("r", "fail");
    shard_.take(ReopenInput{.run = {.id = "r"}, .done = [&](Result<Value> answer) {
                                generation = *answer->find("generation");
                            }});
    EXPECT_TRUE(shard_.commit().answers.size() == 0);

    while (shard_.shard().has_turns()) {
        ASSERT_TRUE(shard_.shard().take_turns());
        for (auto& answer : shard_.commit().answers) {
            answer(nullptr);
        }
    }

    EXPECT_EQ(generation, Value{2});
    EXPECT_EQ(shard_.state("r")->progress.status, trigger::Status::Succeeded);
    EXPECT_EQ(shard_.replayed("r").difference_count, 0U);
}

TEST_F(ShardSweep, KeepsARunUntilItIsSwept) {
    shard_.send("r", "end");
    shard_.commit();
    auto heard = std::optional<Result<Value>>{};
    shard_.take(RemoveInput{.run = {.id = "r"},
                            .done = [&](Result<Value> answer) { heard = std::move(answer); }});
    shard_.clock().now += std::chrono::hours{2};
    ASSERT_TRUE(shard_.shard().sweep_expired());
    for (auto& answer : shard_.commit().answers) {
        answer(nullptr);
    }
    EXPECT_EQ(heard->error().code, Errc::Conflict);
    turn_until_quiet();

    ASSERT_TRUE(shard_.shard().sweep_expired());
    shard_.commit();

    EXPECT_EQ(keys_left('R'), 0U);
    EXPECT_EQ(keys_left('G'), 0U);
}

} // namespace
} // namespace sluice::engine
