#include "connector/amqp/producer.h"

#include <atomic>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/amqp/internal/publisher.h"
#include "connector/amqp/testing/broker_fixture.h"
#include "connector/amqp/testing/silent_relay.h"
#include "event/codec.h"

namespace sluice::connector::amqp {

namespace {

using namespace std::chrono_literals;
using testing::event_json;
using ::testing::HasSubstr;

class ProducerTest : public testing::BrokerFixture {
protected:
    /// The outcome of sending one.
    Result<void> send(event::Producer& producer, const std::string& to, std::uint64_t id = 1) {
        auto outcome = Result<void>{fail(Errc::Internal, "not called")};
        producer.send({.to = to, .key = std::to_string(id), .json = event_json(id)},
                      [&](Result<void> result) { outcome = std::move(result); });
        auto flushed = producer.flush(30s);
        EXPECT_TRUE(flushed) << flushed.error().message;
        return outcome;
    }
};

TEST_F(ProducerTest, ConnectsAnewWhereTheFirstIsNotConfirmed) {
    auto options = queue_options(QueueType::Quorum);
    auto relay = testing::SilentRelay{options.port};
    auto behind = options;
    behind.port = relay.port();
    behind.first_confirmation = 100ms;
    auto producer = open_producer(behind, diagnostics_);

    auto sent = send(*producer, options.queue);

    EXPECT_TRUE(sent) << sent.error().message;
    EXPECT_GE(relay.connections(), 2);
    auto lines = diagnostics_.lines();
    ASSERT_FALSE(lines.empty());
    EXPECT_THAT(lines.front(), HasSubstr("the first message to " + options.queue));
}

TEST_F(ProducerTest, TheNextMayGoWhereTheFirstWasGivenUp) {
    auto options = queue_options(QueueType::Quorum);
    auto publisher = internal::Publisher::open(options);
    ASSERT_TRUE(publisher) << publisher.error().message;
    auto pending = [&](std::uint64_t id) {
        return internal::Pending{
            .event = {.to = options.queue, .key = std::to_string(id), .json = event_json(id)}};
    };
    auto outcomes = std::vector<internal::Outcome>{};
    ASSERT_TRUE(publisher->publish(pending(1)));
    ASSERT_FALSE(publisher->is_free(pending(2)));

    publisher->give_up(std::chrono::steady_clock::now(), outcomes);

    ASSERT_EQ(outcomes.size(), 1);
    EXPECT_FALSE(outcomes.front().result);
    EXPECT_TRUE(publisher->is_free(pending(2)));
}

TEST_F(ProducerTest, WhatNoQueueTakesFailsAlone) {
    auto options = queue_options(QueueType::Quorum);
    auto producer = open_producer(options, diagnostics_);
    auto mutex = std::mutex{};
    auto failed = std::vector<int>{};
    auto first = Result<void>{};

    for (auto id = 1; id <= 1000; ++id) {
        auto to = id % 10 == 0 ? std::string{"nobody.made.this"} : options.queue;
        producer->send({.to = to, .key = std::to_string(id), .json = event_json(id)},
                       [&, id](const Result<void>& result) {
                           auto lock = std::unique_lock{mutex};
                           if (!result) {
                               failed.push_back(id);
                               first = result;
                           }
                       });
    }
    ASSERT_TRUE(producer->flush(60s));

    ASSERT_EQ(failed.size(), 100);
    EXPECT_TRUE(std::ranges::all_of(failed, [](int id) { return id % 10 == 0; }));
    EXPECT_EQ(first.error().code, Errc::NotFound);
    EXPECT_THAT(first.error().message, HasSubstr("'nobody.made.this'"));
    auto source = open_source(options, diagnostics_);
    ASSERT_TRUE(source->resume(options.queue, 0));
    EXPECT_EQ(read(*source, 900).back().text, event_json(999));
}

TEST_F(ProducerTest, SaysThatAnExchangeIsMissing) {
    auto options = server_->options();
    options.exchange = "nobody.made.this";
    auto producer = open_producer(options, diagnostics_);

    auto first = send(*producer, "key");
    auto second = send(*producer, "key");

    ASSERT_FALSE(first);
    EXPECT_EQ(first.error().code, Errc::NotFound);
    EXPECT_THAT(first.error().message, HasSubstr("nobody.made.this"));
    EXPECT_EQ(second.error().code, Errc::NotFound);
}

TEST_F(ProducerTest, UsesTheRoutingKeyOfItsOptions) {
    auto options = queue_options(QueueType::Classic);
    options.routing_key = options.queue;
    auto producer = open_producer(options, diagnostics_);
    auto source = open_source(options, diagnostics_);

    ASSERT_TRUE(send(*producer, ""));

    ASSERT_TRUE(source->resume(options.queue, 0));
    EXPECT_EQ(read(*source, 1).front().text, event_json(1));
}

TEST_F(ProducerTest, WritesBinaryMode) {
    for (auto type : {QueueType::Stream, QueueType::Quorum, QueueType::Classic}) {
        auto options = queue_options(type);
        options.mode = Mode::Binary;
        auto producer = open_producer(options, diagnostics_);
        auto source = open_source(options, diagnostics_);
        auto json = std::string{
            R"({"specversion":"1.0","id":"ä1","source":"/s","type":"t","subject":"x y",)"
            R"("datacontenttype":"text/plain","number":7,"data":"plain \"text\""})"};

        producer->send({.to = options.queue, .key = "1", .json = json},
                       [](const Result<void>& result) { EXPECT_TRUE(result); });
        ASSERT_TRUE(producer->flush(30s));
        ASSERT_TRUE(source->resume(options.queue, 0));
        auto reads = read(*source, 1);

        ASSERT_EQ(reads.size(), 1);
        EXPECT_EQ(reads[0].fault, "");
        auto codec = event::Codec{};
        auto event = codec.parse(reads[0].text);
        ASSERT_TRUE(event) << event.error().message << reads[0].text;
        EXPECT_EQ(event->id(), "ä1");
        EXPECT_EQ(event->subject(), "x y");
        EXPECT_EQ(event->data(), Value{"plain \"text\""});
        EXPECT_EQ(event->attribute("datacontenttype"), Value{"text/plain"});
    }
}

TEST_F(ProducerTest, LargeEventsComeWhole) {
    auto options = queue_options(QueueType::Stream);

    publish(options, options.queue, 1, 20, 700'000);
    auto source = open_source(options, diagnostics_);
    ASSERT_TRUE(source->resume(options.queue, 0));
    auto reads = read(*source, 20);

    ASSERT_EQ(reads.size(), 20);
    for (auto at = std::size_t{0}; at < reads.size(); ++at) {
        EXPECT_TRUE(reads[at].text == event_json(at + 1, 700'000));
    }
}

TEST_F(ProducerTest, MayBeUsedFromManyThreadsAndFromItsCallbacks) {
    auto options = queue_options(QueueType::Stream);
    options.window = 16;
    auto producer = open_producer(options, diagnostics_);
    auto confirmed = std::atomic<int>{0};
    auto threads = std::vector<std::thread>{};
    for (auto at = 0; at < 4; ++at) {
        threads.emplace_back([&] {
            for (auto id = 0; id < 500; ++id) {
                auto again = [&](const Result<void>& result) {
                    EXPECT_TRUE(result);
                    producer->send(
                        {.to = options.queue, .key = "again", .json = event_json(1)},
                        [&](const Result<void>& second) { confirmed += second ? 1 : 0; });
                };
                producer->send({.to = options.queue, .key = "k", .json = event_json(1)}, again);
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }

    EXPECT_TRUE(producer->flush(60s));
    EXPECT_TRUE(wait_until([&] { return confirmed == 2000; }));
}

TEST_F(ProducerTest, EveryOneHearsWhenItEnds) {
    auto options = queue_options(QueueType::Quorum);
    auto called = std::atomic<int>{0};
    {
        auto producer = open_producer(options, diagnostics_);
        for (auto id = 1; id <= 3000; ++id) {
            producer->send({.to = options.queue, .key = "k", .json = event_json(1)},
                           [&](const Result<void>&) { ++called; });
        }
    }
    EXPECT_EQ(called, 3000);
}

} // namespace

} // namespace sluice::connector::amqp
