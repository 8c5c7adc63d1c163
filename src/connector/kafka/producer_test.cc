#include "connector/kafka/producer.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/kafka/bus.h"
#include "connector/kafka/source.h"
#include "connector/kafka/testing/mock_cluster.h"
#include "connector/kafka/testing/reading.h"
#include "observe/testing/captured_diagnostics.h"

namespace sluice::connector::kafka {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;
using testing::read_some;
using testing::send_and_wait;
using testing::texts;
using testing::wait_for;

constexpr auto api_produce = 0;

class KafkaProducer : public ::testing::Test {
protected:
    KafkaProducer() {
        cluster_.make_topic("sluice", 4);
        cluster_.make_topic("orders", 3);
    }

    std::unique_ptr<Producer> open(Options options) {
        return std::move(*Producer::open(options, diag_));
    }
    std::vector<testing::Read> read_back(const std::string& partition, std::size_t count) {
        auto source = std::move(*open_partitions("check", cluster_.options(), diag_));
        EXPECT_TRUE(source->resume(partition, 0));
        return read_some(*source, count);
    }

    observe::testing::CapturedDiagnostics diag_;
    testing::MockCluster cluster_{1};
};

TEST_F(KafkaProducer, WhatIsConfirmedIsThere) {
    auto producer = open(cluster_.options());

    EXPECT_EQ(send_and_wait(*producer, "sluice/2", testing::event_json(1)), "");

    EXPECT_EQ(texts(read_back("sluice/2", 1)), std::vector{testing::event_json(1)});
}

TEST_F(KafkaProducer, OrderHoldsOverFailuresAndLostConnections) {
    auto producer = open(cluster_.options());
    rd_kafka_mock_push_request_errors(
        cluster_.get(), api_produce, 4, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
        RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
        RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS);
    auto confirmed = std::atomic<int>{0};
    auto expected = std::vector<std::string>{};
    for (auto id = 0U; id < 2000; ++id) {
        expected.push_back(testing::event_json(id));
        producer->send({.to = "sluice/1", .json = expected.back()},
                       [&](Result<void> result) { confirmed += result ? 1 : 0; });
        if (id == 1000) {
            rd_kafka_mock_broker_set_down(cluster_.get(), 1);
            rd_kafka_mock_broker_set_up(cluster_.get(), 1);
        }
    }

    auto flushed = producer->flush(30s);

    EXPECT_TRUE(flushed.has_value()) << flushed.error().message;
    EXPECT_EQ(confirmed, 2000);
    auto found = texts(read_back("sluice/1", 2000));
    EXPECT_EQ(found, expected);
}

TEST_F(KafkaProducer, WithoutABrokerNothingIsGivenUpNorForgotten) {
    auto producer = open(cluster_.options());
    ASSERT_EQ(send_and_wait(*producer, "sluice/0", testing::event_json(1)), "");
    rd_kafka_mock_broker_set_down(cluster_.get(), 1);
    auto outcome = std::atomic<int>{0};
    producer->send({.to = "sluice/0", .json = testing::event_json(2)},
                   [&](Result<void> result) { outcome = result ? 1 : 2; });

    auto flushed = producer->flush(300ms);
    ASSERT_FALSE(flushed.has_value());
    EXPECT_EQ(flushed.error().code, Errc::Unavailable);
    EXPECT_EQ(outcome, 0);
    rd_kafka_mock_broker_set_up(cluster_.get(), 1);

    EXPECT_TRUE(producer->flush(20s).has_value());
    EXPECT_EQ(outcome, 1);
}

TEST_F(KafkaProducer, WhatIsNotConfirmedInTheEndIsRefused) {
    auto producer = open(cluster_.options());
    ASSERT_EQ(send_and_wait(*producer, "sluice/0", testing::event_json(1)), "");
    rd_kafka_mock_broker_set_down(cluster_.get(), 1);
    auto code = std::atomic<int>{-1};
    producer->send({.to = "sluice/0", .json = testing::event_json(2)}, [&](Result<void> result) {
        code = result ? -2 : static_cast<int>(result.error().code);
    });
    auto begin = SystemClock{}.steady();

    producer.reset();

    EXPECT_EQ(code, static_cast<int>(Errc::Unavailable));
    EXPECT_LT(SystemClock{}.steady() - begin, Nanos{10s});
}

TEST_F(KafkaProducer, SendingWaitsForRoomWithoutABrokerAndGoesOn) {
    auto options = cluster_.options();
    options.settings["queue.buffering.max.messages"] = "20";
    auto producer = open(options);
    rd_kafka_mock_broker_set_down(cluster_.get(), 1);
    auto sent = std::atomic<int>{0};
    auto confirmed = std::atomic<int>{0};
    auto sender = std::thread{[&] {
        for (auto id = 0U; id < 100; ++id) {
            producer->send({.to = "sluice/0", .json = testing::event_json(id)},
                           [&](Result<void> result) { confirmed += result ? 1 : 0; });
            ++sent;
        }
    }};
    EXPECT_TRUE(wait_for([&] { return sent == 10; }));

    rd_kafka_mock_broker_set_up(cluster_.get(), 1);
    sender.join();

    EXPECT_TRUE(producer->flush(20s).has_value());
    EXPECT_EQ(confirmed, 100);
}

TEST_F(KafkaProducer, WhoeverIsCalledBackMaySendAgain) {
    auto options = cluster_.options();
    options.settings["queue.buffering.max.messages"] = "4";
    auto producer = open(options);
    auto left = std::atomic<int>{50};
    auto failed = std::atomic<int>{0};
    std::function<void(Result<void>)> again = [&](Result<void> result) {
        failed += result ? 0 : 1;
        if (--left > 0) {
            producer->send({.to = "sluice/0", .json = testing::event_json(1)}, again);
        }
    };
    producer->send({.to = "sluice/0", .json = testing::event_json(1)}, again);
    producer->send({.to = "sluice/0", .json = testing::event_json(1)}, again);

    EXPECT_TRUE(wait_for([&] { return left <= 0; }));
    EXPECT_TRUE(producer->flush(10s).has_value());
    EXPECT_EQ(failed, 0);
}

TEST_F(KafkaProducer, EventsOfARunKeepTogether) {
    auto producer = open(cluster_.options());
    for (auto id = 0U; id < 70; ++id) {
        producer->send({.to = "orders", .json = testing::event_json(id)},
                       [](Result<void> result) { EXPECT_TRUE(result.has_value()); });
    }
    ASSERT_TRUE(producer->flush(20s).has_value());
    auto options = cluster_.options();
    options.topics = {"orders"};
    auto source = std::move(*open_source("check", options, diag_));

    auto places = std::map<std::string, std::set<std::string>>{};
    auto codec = event::Codec{};
    for (const auto& read : read_some(*source, 70)) {
        auto event = codec.parse(read.text);
        ASSERT_TRUE(event.has_value());
        places[std::string{event->run()}].insert(read.partition);
    }

    EXPECT_EQ(places.size(), 7);
    for (const auto& [run, partitions] : places) {
        EXPECT_EQ(partitions.size(), 1) << run;
    }
}

TEST_F(KafkaProducer, BinaryModeComesBackTheSame) {
    auto options = cluster_.options();
    options.mode = Mode::Binary;
    auto producer = open(options);
    auto json =
        std::string{R"({"specversion":"1.0","id":"a","source":"/s","type":"t",)"
                    R"("subject":"ä","datacontenttype":"application/json","data":{"x":1}})"};
    ASSERT_EQ(send_and_wait(*producer, "orders/1", json), "");

    auto reads = read_back("orders/1", 1);

    ASSERT_EQ(reads.size(), 1);
    auto codec = event::Codec{};
    auto event = codec.parse(reads[0].text);
    ASSERT_TRUE(event.has_value()) << reads[0].text;
    EXPECT_EQ(event->whole(), codec.parse(json)->whole());
}

TEST_F(KafkaProducer, WhatCannotBeSentIsRefusedAtOnce) {
    auto producer = open(cluster_.options());

    EXPECT_THAT(send_and_wait(*producer, "a b", testing::event_json(1)), HasSubstr("no topic"));
    EXPECT_THAT(send_and_wait(*producer, "orders/x", testing::event_json(1)),
                HasSubstr("topic/number"));
    EXPECT_NE(send_and_wait(*producer, "orders", "no json"), "");
    EXPECT_THAT(send_and_wait(*producer, "sluice/0", testing::event_json(1, 2'000'000)),
                HasSubstr("too large"));
    EXPECT_THAT(send_and_wait(*producer, "sluice/9", testing::event_json(1)),
                HasSubstr("partition"));
}

TEST_F(KafkaProducer, AProducerThatIsBrokenBeginsAnew) {
    auto producer = open(cluster_.options());
    ASSERT_EQ(send_and_wait(*producer, "sluice/0", testing::event_json(1)), "");
    rd_kafka_mock_push_request_errors(cluster_.get(), api_produce, 1,
                                      RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);

    auto outcome = send_and_wait(*producer, "sluice/0", testing::event_json(2));

    EXPECT_NE(outcome, "");
    EXPECT_EQ(send_and_wait(*producer, "sluice/0", testing::event_json(3)), "");
    EXPECT_THAT(diag_.lines(), Contains(HasSubstr("began anew")));
}

TEST_F(KafkaProducer, ABusIsATopicWithAPartitionForEachShard) {
    auto bus = std::move(*open_bus(cluster_.options(), diag_));

    EXPECT_EQ(bus->partition(ShardId{3}), "sluice/3");
    EXPECT_TRUE(bus->create(4).has_value());
    auto other = bus->create(8);
    ASSERT_FALSE(other.has_value());
    EXPECT_EQ(other.error().code, Errc::Conflict);
    EXPECT_THAT(other.error().message, HasSubstr("4 partitions, expected 8"));

    auto producer = std::move(*bus->open_producer());
    for (auto id = 0U; id < 1000; ++id) {
        producer->send({.to = "sluice/3", .json = testing::event_json(id)}, [](Result<void>) {});
    }
    ASSERT_TRUE(producer->flush(20s).has_value());
    auto ceiling = bus->measure(ShardId{3}, 1000);
    ASSERT_TRUE(ceiling.has_value()) << ceiling.error().message;
    EXPECT_GT(ceiling->position_events_per_second, 0);
    EXPECT_GT(ceiling->group_events_per_second, 0);
}

} // namespace
} // namespace sluice::connector::kafka
