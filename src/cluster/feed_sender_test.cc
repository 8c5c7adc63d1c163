#include "cluster/feed_sender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::cluster {
namespace {

using ::testing::ElementsAre;

class FeedSenderTest : public ::testing::Test {
protected:
    struct Sent {
        std::string what;
        engine::Done done;
    };

    void events(std::uint16_t shard, std::uint64_t number, const std::string& partition = "p") {
        auto input = engine::EventsInput{
            .shard = ShardId{shard}, .partition = partition, .numbers = {number}};
        input.done = [this, number](const Result<engine::Receipt>& receipt) {
            heard.push_back(fmt::format("{} {}", number, receipt ? "taken" : "refused"));
        };
        sender->send(std::move(input));
    }

    void answer(std::size_t at, Result<Value> taken = Value{}) {
        std::exchange(sent.at(at).done, nullptr)(std::move(taken));
    }

    std::vector<std::string> all_sent() const {
        auto all = std::vector<std::string>{};
        for (const auto& each : sent) {
            all.push_back(each.what);
        }
        return all;
    }

    static std::string text_of(const engine::Input& input) {
        if (const auto* events = std::get_if<engine::EventsInput>(&input)) {
            return fmt::format("{}: {}", events->shard.raw(), events->numbers.front());
        }
        return std::holds_alternative<engine::MoveInput>(input) ? "move" : "leave";
    }

    std::vector<Sent> sent;
    std::vector<std::string> heard;
    std::shared_ptr<FeedSender> sender =
        std::make_shared<FeedSender>([this](const engine::Input& input, engine::Done done) {
            sent.push_back({text_of(input), std::move(done)});
        });
};

TEST_F(FeedSenderTest, SendsAShardTheNextWhenTheOneBeforeIsTaken) {
    events(1, 1);
    events(1, 2);
    events(2, 3);
    EXPECT_THAT(all_sent(), ElementsAre("1: 1", "2: 3"));

    answer(0);

    EXPECT_THAT(all_sent(), ElementsAre("1: 1", "2: 3", "1: 2"));
    EXPECT_THAT(heard, ElementsAre("1 taken"));
}

TEST_F(FeedSenderTest, SendsNothingBehindWhatWasNotTaken) {
    events(1, 1);
    events(1, 2);

    answer(0, fail(Errc::Unavailable, "nobody has it"));
    events(1, 3);
    events(1, 4, "q");

    EXPECT_THAT(all_sent(), ElementsAre("1: 1", "1: 4"));
    EXPECT_THAT(heard, ElementsAre("1 refused", "2 refused", "3 refused"));
}

TEST_F(FeedSenderTest, WhoLeavesWaitsForNothing) {
    events(1, 1);
    events(1, 2);

    sender->send(engine::LeaveInput{.shard = ShardId{1}, .partition = "p"});

    EXPECT_THAT(all_sent(), ElementsAre("1: 1", "leave"));
    EXPECT_THAT(heard, ElementsAre("1 refused", "2 refused"));
    answer(0);
    EXPECT_EQ(heard.size(), 2U);
}

TEST_F(FeedSenderTest, WhereAllWasTakenTheEndIsToldAfterLeaving) {
    events(1, 1);
    answer(0);
    sender->send(engine::LeaveInput{.shard = ShardId{1}, .partition = "p"});
    auto has_moved = false;

    sender->send(engine::MoveInput{
        .shard = ShardId{1},
        .partition = "p",
        .number = 1,
        .done = [&](const Result<Value>& moved) { has_moved = moved.has_value(); }});
    answer(2);

    EXPECT_THAT(all_sent(), ElementsAre("1: 1", "leave", "move"));
    EXPECT_TRUE(has_moved);
}

} // namespace
} // namespace sluice::cluster
