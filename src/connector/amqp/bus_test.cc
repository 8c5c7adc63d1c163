#include "connector/amqp/bus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/amqp/testing/broker_fixture.h"

namespace sluice::connector::amqp {

namespace {

using namespace std::chrono_literals;
using testing::event_json;
using ::testing::HasSubstr;

class BusTest : public testing::BrokerFixture {
protected:
    std::unique_ptr<event::Bus> open(std::string_view query) {
        auto options = parse_url(server_->url() + "&" + std::string{query});
        EXPECT_TRUE(options) << options.error().message;
        return std::move(open_bus(*options, diagnostics_)).value();
    }
};

TEST_F(BusTest, CarriesEventsFromShardToShard) {
    for (const auto* query : {"prefix=bus.s", "prefix=bus.q&queue=quorum",
                              "prefix=bus.c&queue=classic&single_active=true"}) {
        auto bus = open(query);
        ASSERT_TRUE(bus->create(3));
        ASSERT_TRUE(bus->create(3)) << "what is there already is good";
        auto producer = std::move(bus->open_producer()).value();
        auto source = std::move(bus->open_source()).value();

        for (auto shard = std::uint16_t{0}; shard < 3; ++shard) {
            auto partition = bus->partition(ShardId{shard});
            ASSERT_TRUE(source->resume(partition, 0));
            producer->send({.to = partition, .key = "1", .json = event_json(shard)},
                           [](const Result<void>& result) { EXPECT_TRUE(result); });
        }
        ASSERT_TRUE(producer->flush(30s));

        for (const auto& each : read(*source, 3)) {
            auto shard = std::stoul(each.partition.substr(each.partition.rfind('.') + 1));
            EXPECT_EQ(each.text, event_json(shard));
        }
        source.reset();
        ASSERT_TRUE(bus->remove(3));
        EXPECT_TRUE(bus->remove(3)) << "what is gone already is good";
    }
}

TEST_F(BusTest, RefusesQueuesOfAnotherShape) {
    auto streams = open("prefix=shape");
    auto queues = open("prefix=shape&queue=quorum");
    ASSERT_TRUE(streams->create(1));

    auto refused = queues->create(1);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::Conflict);
    EXPECT_THAT(refused.error().message, HasSubstr("x-queue-type"));
    EXPECT_TRUE(streams->remove(1));
}

TEST_F(BusTest, MeasuresWhatABareClientCanDo) {
    auto bus = open("prefix=ceiling.s");
    ASSERT_TRUE(bus->create(1));
    publish(server_->options(), bus->partition(ShardId{0}), 1, 2000, 300);

    auto ceiling = bus->measure(ShardId{0}, 2000);
    auto again = bus->measure(ShardId{0}, 2000);

    ASSERT_TRUE(ceiling) << ceiling.error().message;
    EXPECT_GT(ceiling->group_events_per_second, 100);
    EXPECT_GT(ceiling->position_events_per_second, 100);
    EXPECT_TRUE(again) << "what was there still is";
    ASSERT_TRUE(bus->remove(1));
}

TEST_F(BusTest, MeasuresAQueueByTakingWhatIsInIt) {
    auto bus = open("prefix=ceiling.c&queue=classic");
    ASSERT_TRUE(bus->create(1));
    auto name = bus->partition(ShardId{0});
    publish(server_->options(), name, 1, 1200, 300);

    auto ceiling = bus->measure(ShardId{0}, 1200);
    auto source = std::move(bus->open_source()).value();
    ASSERT_TRUE(source->resume(name, 0));
    publish(server_->options(), name, 1201, 1201, 300);

    ASSERT_TRUE(ceiling) << ceiling.error().message;
    EXPECT_GT(ceiling->group_events_per_second, 100);
    EXPECT_EQ(ceiling->position_events_per_second, 0);
    auto left = read(*source, 1);
    ASSERT_EQ(left.size(), 1);
    EXPECT_EQ(left.front().text, event_json(1201, 300));
    source.reset();
    ASSERT_TRUE(bus->remove(1));
}

} // namespace

} // namespace sluice::connector::amqp
