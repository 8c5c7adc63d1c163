#include <gtest/gtest.h>

#include "engine/testing/stepped_shard.h"

// What a shard does with runs that continue as new or are reopened.
namespace sluice::engine {
namespace {

constexpr auto continues = R"({"name":"t","triggers":[
    {"id":"go","on":"go","action":{"continue":{"input":"${run.generation}"}}},
    {"id":"end","on":"end","action":{"finish":{"result":"${run.input}"}}}]})";

Result<Value> reopen(testing::SteppedShard& shard, const std::string& run) {
    auto heard = std::optional<Result<Value>>{};
    shard.take(ReopenInput{.run = {.id = run},
                           .done = [&](Result<Value> answer) { heard = std::move(answer); }});
    for (auto& answer : shard.commit().answers) {
        answer(nullptr);
    }
    return heard.value();
}

TEST(Generation, TellsWhoeverWaitsOfTheLastOneOnly) {
    auto shard = testing::SteppedShard{};
    auto ended = std::vector<Value>{};
    shard.start("r", continues);
    shard.take(WatchInput{.run = {.id = "r"},
                          .done = [&](Result<Value> ending) { ended.push_back(*ending); }});
    shard.send("r", "go");
    shard.send("r", "go");
    EXPECT_TRUE(shard.commit().answers.size() == 0);

    shard.send("r", "end");
    for (auto& answer : shard.commit().answers) {
        answer(nullptr);
    }

    ASSERT_EQ(ended.size(), 1U);
    EXPECT_EQ(*ended.front().find("result"), Value{2});
    EXPECT_EQ(shard.replayed("r").difference_count, 0U);
}

TEST(Generation, TellsNobodyWhoNoLongerWaits) {
    auto shard = testing::SteppedShard{};
    auto gone = std::make_shared<int>();
    auto is_dropped = std::weak_ptr{gone};
    shard.start("r", continues);
    shard.take(WatchInput{
        .run = {.id = "r"}, .done = [gone = std::move(gone)](const auto&) { FAIL(); }, .id = 7});
    shard.take(WatchInput{.run = {.id = "r"}, .done = [](const auto&) {}, .id = 8});

    shard.take(UnwatchInput{.run = {.id = "r"}, .id = 7});

    EXPECT_TRUE(is_dropped.expired());
    shard.commit();
    shard.send("r", "end");
    EXPECT_EQ(shard.commit().answers.size(), 1U);
}

TEST(Generation, IsThereAfterARestart) {
    auto shard = testing::SteppedShard{};
    shard.start("r", continues);
    shard.send("r", "go");
    shard.commit();

    shard.open();
    shard.send("r", "go");
    shard.commit();

    EXPECT_EQ(shard.state("r")->info.generation, 3U);
    EXPECT_EQ(shard.replayed("r").difference_count, 0U);
}

TEST(Generation, ForgetsIdsInTheStoreToo) {
    auto shard = testing::SteppedShard{};
    shard.start("r", continues);
    shard.send("r", "other");
    shard.commit();
    shard.send("r", "go");
    shard.commit();

    // What is kept is still known; what the generation before took is not.
    EXPECT_EQ(shard.state("r")->seen.size(), 1U);
}

TEST(Generation, LetsHistoryOfEarlierOnesGoAfterRetention) {
    auto shard = testing::SteppedShard{};
    shard.start("r", continues);
    shard.send("r", "waits");
    shard.commit();
    shard.send("r", "go");
    shard.commit();
    shard.send("r", "other");
    shard.commit();
    EXPECT_EQ(shard.history("r").size(), 5U);

    shard.clock().now += std::chrono::hours{2};
    ASSERT_TRUE(shard.shard().sweep_expired());
    shard.commit();

    // A checkpoint stands where the batch ended that began the generation.
    EXPECT_EQ(shard.history("r").front().number, trigger::EventNumber{5});
    auto report = shard.replayed("r");
    EXPECT_EQ(report.events, 1U);
    EXPECT_EQ(report.difference_count, 0U)
        << (report.differences.empty() ? "" : report.differences.front().what);
    EXPECT_EQ(shard.state("r")->kept.size(), 2U);
}

TEST(Generation, IsNewWhenAFailedRunIsReopened) {
    auto shard = testing::SteppedShard{};
    shard.start("r", R"({"name":"t","triggers":[
        {"id":"fail","on":"fail","action":{"finish":{"error":"no"}}},
        {"id":"again","on":"sluice.run.reopened","action":{"invoke":"f"}},
        {"id":"end","on":"end","action":"finish"}]})");
    shard.commit();
    EXPECT_EQ(reopen(shard, "r").error().code, Errc::Conflict);
    shard.send("r", "fail");
    shard.commit();

    auto answer = reopen(shard, "r");

    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(*answer->find("generation"), Value{2});
    EXPECT_EQ(shard.state("r")->progress.status, trigger::Status::Running);
    EXPECT_EQ(shard.open().calls.size(), 1U);
    shard.send("r", "end");
    shard.commit();
    EXPECT_EQ(reopen(shard, "r").error().code, Errc::Conflict);
    EXPECT_EQ(reopen(shard, "other").error().code, Errc::NotFound);
    EXPECT_EQ(shard.replayed("r").difference_count, 0U);
}

TEST(Generation, OutlivesTheRetentionOfTheEndBefore) {
    auto shard = testing::SteppedShard{};
    shard.start("r", R"({"name":"t","triggers":[
        {"id":"fail","on":"fail","action":{"finish":{"error":"no"}}}]})");
    shard.send("r", "fail");
    shard.commit();
    ASSERT_TRUE(reopen(shard, "r"));

    shard.clock().now += std::chrono::hours{2};
    ASSERT_TRUE(shard.shard().sweep_expired());
    shard.commit();

    EXPECT_EQ(shard.state("r")->progress.status, trigger::Status::Running);
}

} // namespace
} // namespace sluice::engine
