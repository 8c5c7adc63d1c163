#include "server/live_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "event/builder.h"
#include "server/testing/kept_stream.h"
#include "trigger/history.h"

namespace sluice::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class LiveClock final : public Clock {
public:
    Time wall() const override { return Time{now}; }
    Nanos steady() const override { return now; }

    Nanos now = std::chrono::hours{1};
};

class LiveFeedTest : public ::testing::Test {
protected:
    std::shared_ptr<testing::KeptStream> join(LiveTopic topic, const engine::RunName& run = {},
                                              const std::string& last_id = "") {
        auto stream = std::make_shared<testing::KeptStream>();
        id_ = *feed_.reserve();
        feed_.join(id_, topic, run, {.stream = stream, .wants = {}, .after = {}}, last_id);
        feed_.step();
        return stream;
    }

    void decide(const engine::RunName& run, std::uint64_t number) {
        auto journal = trigger::Journal{};
        auto event = event::Builder{std::to_string(number), "test", "item"}.build();
        journal.begin(trigger::EventNumber{number}, {.event = event}, event.json());
        journal.end(trigger::Fate::Activated);
        if (watch_.wants(run)) {
            watch_.decided(run, journal.record({}));
        }
    }

    void list(const std::string& run) {
        if (watch_.wants_runs()) {
            watch_.listed({.id = run}, {.definition = "d", .parent = {}});
        }
    }

    LiveClock clock_;
    LiveFeed feed_{
        clock_, [] { return Value::object({{"events", 7}}); }, {.queued_bytes_max = 10'000}};
    engine::Watch watch_ = feed_.watch();
    LiveReaderId id_;
};

TEST_F(LiveFeedTest, WantsNothingWhenNobodyWatches) {
    EXPECT_FALSE(watch_.wants({.id = "r"}));
    EXPECT_FALSE(watch_.wants_runs());

    join(LiveTopic::Run, {.id = "r"});

    EXPECT_TRUE(watch_.wants({.id = "r"}));
    EXPECT_FALSE(watch_.wants({.id = "another"}));
    EXPECT_FALSE(watch_.wants_runs());
    feed_.leave(id_);
    feed_.step();
    EXPECT_FALSE(watch_.wants({.id = "r"}));
    EXPECT_EQ(feed_.readers(), 0U);
}

TEST_F(LiveFeedTest, TellsReadersOfARunWhatItDecides) {
    auto reader = join(LiveTopic::Run, {.id = "r"});

    decide({.id = "r"}, 4);
    decide({.id = "another"}, 9);
    decide({.id = "r"}, 5);
    feed_.step();

    auto told = reader->take();
    EXPECT_THAT(told, HasSubstr("event: decided\nid: 4\ndata: {\"event\":4"));
    EXPECT_THAT(told, HasSubstr("id: 5\n"));
    EXPECT_THAT(told, Not(HasSubstr("id: 9\n")));
    EXPECT_THAT(told, Not(HasSubstr("gap")));
}

TEST_F(LiveFeedTest, SaysWhenLanesWereTooFast) {
    auto reader = join(LiveTopic::Run, {.id = "r"});
    for (auto number = 1U; number <= 1'000; ++number) {
        decide({.id = "r"}, number); // More than the queue has room for.
    }
    feed_.step();

    decide({.id = "r"}, 1'001);
    for (auto round = 0; round < 10; ++round) {
        feed_.step(); // Each tells a reader some part.
    }

    auto told = reader->take();
    EXPECT_THAT(told, HasSubstr("id: 1\n"));
    EXPECT_THAT(told, HasSubstr("event: gap\nid: 1000\n"));
    EXPECT_THAT(told, HasSubstr("id: 1001\n"));
}

TEST_F(LiveFeedTest, ResumesATopicWhereItsReaderWas) {
    auto first = join(LiveTopic::Runs);
    list("a");
    feed_.step();
    auto told = first->take();
    auto at = told.find("id: ") + 4;
    auto last_id = told.substr(at, told.find('\n', at) - at);
    feed_.leave(id_);
    feed_.step();
    list("b"); // While nobody reads, but not for long.

    auto second = join(LiveTopic::Runs, {}, last_id);

    told = second->take();
    EXPECT_THAT(told, HasSubstr("\"run\":\"b\""));
    EXPECT_THAT(told, Not(HasSubstr("gap")));
}

TEST_F(LiveFeedTest, SaysThatATopicWasNotFollowedMeanwhile) {
    join(LiveTopic::Runs);
    list("a");
    feed_.step();
    feed_.leave(id_);
    feed_.step();
    clock_.now += std::chrono::minutes{1};
    feed_.step();
    EXPECT_FALSE(watch_.wants_runs());

    auto second = join(LiveTopic::Runs, {}, "0.1-1");

    EXPECT_THAT(second->take(), HasSubstr("event: gap"));
}

TEST_F(LiveFeedTest, TellsEventsOfAllRunsAndMetrics) {
    auto events = join(LiveTopic::Events);
    auto metrics = join(LiveTopic::Metrics);
    decide({.id = "a"}, 1);
    decide({.id = "b"}, 1);
    clock_.now += std::chrono::seconds{2};

    feed_.step();

    auto told = events->take();
    EXPECT_THAT(told, HasSubstr("\"run\":\"a\""));
    EXPECT_THAT(told, HasSubstr("\"run\":\"b\""));
    EXPECT_THAT(metrics->take(), HasSubstr("\"metrics\":{\"events\":7}"));
}

TEST_F(LiveFeedTest, BeatsWhileNothingHappens) {
    auto reader = join(LiveTopic::Run, {.id = "r"});
    reader->take();
    clock_.now += std::chrono::seconds{16};

    feed_.step();

    EXPECT_EQ(reader->take(), ":\n\n");
}

TEST_F(LiveFeedTest, TakesNoMoreReadersThanItMay) {
    auto feed = LiveFeed{clock_, {}, {.readers_max = 1}};
    auto id = feed.reserve();
    EXPECT_TRUE(id);
    EXPECT_FALSE(feed.reserve());

    // It left before it had joined.
    feed.leave(*id);
    feed.join(*id, LiveTopic::Run, {.id = "r"},
              {.stream = std::make_shared<testing::KeptStream>(), .wants = {}, .after = {}});
    feed.step();

    EXPECT_TRUE(feed.reserve());
}

} // namespace
} // namespace sluice::server
