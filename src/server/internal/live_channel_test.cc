#include "server/internal/live_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing/kept_stream.h"

namespace sluice::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

LiveMessage live_message(std::uint64_t number, std::size_t bytes = 2) {
    return {.number = number, .name = "n", .data = std::string(bytes, 'x'), .space = "default"};
}

std::shared_ptr<testing::KeptStream> join_channel(LiveChannel& channel, std::uint64_t id,
                                                  LiveReader reader = {}) {
    auto stream = std::make_shared<testing::KeptStream>();
    reader.stream = stream;
    channel.join(LiveReaderId{id}, std::move(reader));
    return stream;
}

TEST(LiveChannel, TellsReadersWhatComesAfterTheyJoined) {
    auto channel = LiveChannel{"e-", {}};
    channel.add(live_message(1));
    auto reader = join_channel(channel, 1);
    channel.add(live_message(2));

    channel.flush();

    EXPECT_EQ(reader->take(), "event: n\nid: e-2\ndata: xx\n\n");
    channel.flush();
    EXPECT_EQ(reader->take(), "");
    EXPECT_FALSE(channel.has_unread());
}

TEST(LiveChannel, GoesOnBehindWhatAReaderHas) {
    auto channel = LiveChannel{"", {}};
    for (auto number : {1U, 2U, 3U}) {
        channel.add(live_message(number));
    }
    auto reader = join_channel(channel, 1, {.stream = {}, .wants = {}, .after = 1});

    channel.flush();

    EXPECT_EQ(reader->take(), "event: n\nid: 2\ndata: xx\n\nevent: n\nid: 3\ndata: xx\n\n");
}

TEST(LiveChannel, SaysWhatAReaderMissed) {
    auto channel = LiveChannel{"", {.window_bytes = 50, .offer_bytes = 1'000, .lag_bytes = 1'000}};
    for (auto number : {1U, 2U, 3U, 7U}) {
        channel.add(live_message(number, 70));
    }
    auto reader = join_channel(channel, 1, {.stream = {}, .wants = {}, .after = 1});

    channel.flush();

    EXPECT_THAT(reader->take(), HasSubstr("event: gap\nid: 6\ndata: {\"from\":2,\"to\":6}\n\n"
                                          "event: n\nid: 7\n"));
}

TEST(LiveChannel, LetsAReaderThatFallsBehindSkipToTheNewest) {
    auto channel =
        LiveChannel{"", {.window_bytes = 100'000, .offer_bytes = 500, .lag_bytes = 2'000}};
    auto reader = join_channel(channel, 1);
    for (auto number = 1U; number <= 100; ++number) {
        channel.add(live_message(number, 80));
    }

    channel.flush();
    auto first = reader->take();
    EXPECT_THAT(first, HasSubstr("id: 1\n"));
    EXPECT_THAT(first, HasSubstr("event: gap"));
    EXPECT_LT(first.size(), 1'000U);
    EXPECT_TRUE(channel.has_unread());
    channel.flush();

    EXPECT_THAT(reader->take(), HasSubstr("id: 100\n"));
}

TEST(LiveChannel, LosesNothingOfOneThatIsStuckForAMoment) {
    auto channel = LiveChannel{"", {}};
    auto stuck = std::make_shared<testing::KeptStream>(0);
    channel.join(LiveReaderId{1}, {.stream = stuck, .wants = {}, .after = {}});
    auto other = join_channel(channel, 2);
    channel.add(live_message(1));
    channel.flush();
    EXPECT_THAT(other->take(), HasSubstr("id: 1\n"));
    EXPECT_TRUE(channel.has_unread());

    *stuck = testing::KeptStream{};
    channel.flush();

    EXPECT_THAT(stuck->take(), HasSubstr("id: 1\n"));
}

TEST(LiveChannel, LeavesOutWhatAReaderDoesNotWant) {
    auto channel = LiveChannel{"", {}};
    auto reader = join_channel(
        channel, 1,
        {.stream = {}, .wants = [](const auto& each) { return each.number == 2; }, .after = {}});
    for (auto number : {1U, 2U, 3U}) {
        channel.add(live_message(number));
    }

    channel.flush();

    EXPECT_EQ(reader->take(), "event: n\nid: 2\ndata: xx\n\n");
    EXPECT_FALSE(channel.has_unread());
}

TEST(LiveChannel, TellsNothingToOneThatIsStillCatchingUp) {
    auto channel = LiveChannel{"", {}};
    auto reader =
        join_channel(channel, 1, {.stream = {}, .wants = {}, .after = 0, .is_catching_up = true});
    channel.add(live_message(1));
    channel.add(live_message(2));
    channel.flush();
    EXPECT_EQ(reader->take(), "");

    channel.go_live(LiveReaderId{1}, 2);
    channel.flush();

    auto told = reader->take();
    EXPECT_THAT(told, HasSubstr("id: 2\n"));
    EXPECT_THAT(told, Not(HasSubstr("id: 1\n")));
}

} // namespace
} // namespace sluice::server
