#include "connector/amqp/source.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/amqp/internal/bytes.h"
#include "connector/amqp/internal/table.h"
#include "connector/amqp/testing/broker_fixture.h"
#include "connector/amqp/testing/stream_bytes.h"
#include "connector/amqp/testing/stream_publisher.h"

namespace sluice::connector::amqp {

namespace {

using namespace std::chrono_literals;
using testing::event_json;
using ::testing::HasSubstr;
using testing::Read;
using testing::StreamWay;

class SourceTest : public testing::BrokerFixture {
protected:
    std::unique_ptr<event::Source> open(const Options& options, std::uint64_t position = 0) {
        auto source = open_source(options, diagnostics_);
        auto resumed = source->resume(options.queue, position);
        EXPECT_TRUE(resumed) << resumed.error().message;
        return source;
    }

    std::uint32_t ready_in(const std::string& queue) {
        auto connection = connect();
        EXPECT_TRUE(connection.open_channel(1));
        return connection.count_messages(1, queue).value_or(9999);
    }

    static void expect_events(const std::vector<Read>& reads, std::uint64_t first,
                              std::uint64_t last) {
        ASSERT_EQ(reads.size(), last - first + 1);
        for (auto at = std::size_t{0}; at < reads.size(); ++at) {
            ASSERT_EQ(reads[at].text, event_json(first + at));
            ASSERT_EQ(reads[at].fault, "");
        }
    }
};

/// What holds for streams holds however they are read.
class StreamTest : public SourceTest, public ::testing::WithParamInterface<StreamWay> {
protected:
    void TearDown() override {
        expect_no_change_of_way();
        SourceTest::TearDown();
    }
};

INSTANTIATE_TEST_SUITE_P(Ways, StreamTest,
                         ::testing::Values(StreamWay::ByStreamProtocol, StreamWay::ByAmqp),
                         [](const auto& each) { return to_string(each.param); });

TEST_P(StreamTest, ReadsAStreamByPosition) {
    auto options = stream_options(GetParam());
    publish(options, options.queue, 1, 5000);

    auto reads = read(*open(options), 5000);
    auto later = read(*open(options, 3210), 1790);

    expect_events(reads, 1, 5000);
    EXPECT_EQ(reads.front().number, 1);
    EXPECT_EQ(reads.back().number, 5000);
    expect_events(later, 3211, 5000);
    EXPECT_EQ(later.front().number, 3211);
}

TEST_P(StreamTest, WaitsForWhatComesNext) {
    auto options = stream_options(GetParam());
    publish(options, options.queue, 1, 10);
    auto source = open(options, 10);

    auto began = Steady::now();
    auto nothing = source->read(1024, 50ms);
    auto waited = Steady::now() - began;
    publish(options, options.queue, 11, 12);

    ASSERT_TRUE(nothing);
    EXPECT_TRUE(nothing->records.empty());
    EXPECT_GE(waited, 50ms);
    EXPECT_LT(waited, 2s);
    expect_events(read(*source, 2), 11, 12);
}

TEST_P(StreamTest, HandsOutAboutAsMuchAsWasAskedFor) {
    auto options = stream_options(GetParam());
    publish(options, options.queue, 1, 300, 1000);
    auto source = open(options);

    auto chunk = source->read(10'000, 10s);

    ASSERT_TRUE(chunk);
    EXPECT_LE(chunk->records.size(), 11);
    EXPECT_GE(chunk->records.size(), 1);
}

TEST_P(StreamTest, ReadsManyPartitions) {
    auto options = stream_options(GetParam());
    auto names = std::vector<std::string>{};
    for (auto at = 0; at < 20; ++at) {
        names.push_back(options.queue + "." + std::to_string(at));
        declare(options, names.back());
        publish(options, names.back(), 1, 100);
    }
    auto source = open_source(options, diagnostics_);
    for (const auto& name : names) {
        ASSERT_TRUE(source->resume(name, 40));
    }

    auto reads = read(*source, names.size() * 60);

    auto next = std::map<std::string, std::uint64_t>{};
    for (const auto& each : reads) {
        auto& number = next.try_emplace(each.partition, 41).first->second;
        ASSERT_EQ(each.number, number);
        ASSERT_EQ(each.text, event_json(number));
        ++number;
    }
    EXPECT_EQ(reads.size(), names.size() * 60);
    EXPECT_EQ(next.size(), names.size());
}

TEST_P(StreamTest, LeavesAndResumes) {
    auto options = stream_options(GetParam());
    auto other = options.queue + ".other";
    declare(options, other);
    publish(options, options.queue, 1, 2000);
    publish(options, other, 1, 2000);
    auto source = open(options);
    ASSERT_TRUE(source->resume(other, 0));
    ASSERT_TRUE(source->read(4096, 10s));

    source->leave(options.queue);
    auto rest = std::vector<Read>{};
    while (rest.empty() || rest.back().number < 2000) {
        auto chunk = source->read(1 << 20, 10s);
        ASSERT_TRUE(chunk && !chunk->records.empty());
        ASSERT_EQ(chunk->partition, other);
        append(rest, *chunk);
    }
    ASSERT_TRUE(source->resume(options.queue, 1500));

    expect_events(read(*source, 500), 1501, 2000);
}

TEST_P(StreamTest, RefusesAPositionThatIsGone) {
    auto options = stream_options(GetParam());
    options.queue += ".short";
    options.retention = {.max_age = {}, .max_bytes = 50'000, .segment_bytes = 20'000};
    declare(options, options.queue);
    auto reading = open(options);
    auto published = std::uint64_t{0};
    auto last = std::uint64_t{0};
    auto refused = Result<void>{};
    auto is_refused = [&] {
        for (auto round = 0; round < 20; ++round) {
            publish(options, options.queue, published + 1, published + 5, 1000);
            published += 5;
            last = read(*reading, 5).back().number;
        }
        refused = open_source(options, diagnostics_)->resume(options.queue, 10);
        return !refused;
    };

    ASSERT_TRUE(wait_until(is_refused));

    EXPECT_EQ(refused.error().code, Errc::NotFound);
    EXPECT_THAT(refused.error().message, HasSubstr("what lies between is gone"));
    EXPECT_GT(last, published) << "the stream's own records take numbers too";
    auto at_the_end = open(options, last);
    auto from_the_beginning = open(options, 0);
    publish(options, options.queue, published + 1, published + 1, 1000);
    EXPECT_EQ(read(*at_the_end, 1).front().text, event_json(published + 1, 1000));
}

TEST_P(StreamTest, RefusesAStreamThatWasMadeAnew) {
    auto options = stream_options(GetParam());
    auto before = open_source(options, diagnostics_);
    ASSERT_TRUE(before->resume(options.queue, 100)) << "what is empty may have been emptied";
    publish(options, options.queue, 1, 5);

    auto chunk = before->read(1000, 10s);
    auto refused = open_source(options, diagnostics_)->resume(options.queue, 100);

    ASSERT_FALSE(chunk);
    EXPECT_EQ(chunk.error().code, Errc::NotFound);
    EXPECT_THAT(chunk.error().message, HasSubstr("was made anew"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::NotFound);
    EXPECT_THAT(refused.error().message, HasSubstr("was made anew"));
}

TEST_F(SourceTest, EndsWithTheStream) {
    auto options = stream_options(StreamWay::ByStreamProtocol);
    publish(options, options.queue, 1, 10);
    auto source = open(options);
    expect_events(read(*source, 10), 1, 10);

    remove(options.queue);
    auto failure = Result<event::Chunk>{};
    auto has_failed = [&] { return !(failure = source->read(1000, 50ms)); };

    ASSERT_TRUE(wait_until(has_failed));
    EXPECT_EQ(failure.error().code, Errc::NotFound);
    EXPECT_THAT(failure.error().message, HasSubstr(options.queue));
}

TEST_P(StreamTest, GoesOnBehindAnyPosition) {
    auto options = stream_options(GetParam());
    publish(options, options.queue, 1, 3000);
    auto positions = {1, 2, 100, 1234, 2999};

    for (auto position : positions) {
        auto rest = 3000 - static_cast<std::uint64_t>(position);
        auto reads = read(*open(options, static_cast<std::uint64_t>(position)), rest);
        expect_events(reads, static_cast<std::uint64_t>(position) + 1, 3000);
    }
}

TEST_P(StreamTest, MakesAStreamOfItsOwn) {
    auto options = stream_options(GetParam());
    options.queue += ".bound";
    options.is_declared = true;
    options.exchange = "amq.topic";
    options.routing_key = options.queue + ".#";
    auto source = open(options);

    auto producer = open_producer(options, diagnostics_);
    producer->send({.to = options.queue + ".one", .key = "1", .json = event_json(1)},
                   [](const Result<void>& result) { EXPECT_TRUE(result); });
    ASSERT_TRUE(producer->flush(30s));
    auto reads = read(*source, 1);
    source.reset();
    remove(options.queue);

    expect_events(reads, 1, 1);
}

TEST_F(SourceTest, ReadsMoreStreamsThanALinkHas) {
    // A subscription's number is one byte.
    constexpr auto streams = 258;
    auto options = stream_options(StreamWay::ByStreamProtocol);
    auto producer = open_producer(options, diagnostics_);
    auto source = open_source(options, diagnostics_);
    auto connection = connect();
    ASSERT_TRUE(connection.open_channel(1));
    auto names = std::vector<std::string>{};
    for (auto at = 0; at < streams; ++at) {
        names.push_back(options.queue + "." + std::to_string(at));
        ASSERT_TRUE(connection.declare_queue(1, names.back(), options));
        ASSERT_TRUE(source->resume(names.back(), 0));
        producer->send({.to = names.back(), .key = "1", .json = event_json(1)},
                       [](const Result<void>& result) { EXPECT_TRUE(result); });
    }
    ASSERT_TRUE(producer->flush(60s));

    auto reads = read(*source, streams);
    source.reset();
    for (const auto& name : names) {
        std::ignore = connection.delete_queue(1, name);
    }

    auto seen = std::map<std::string, int>{};
    for (const auto& each : reads) {
        ++seen[each.partition];
    }
    EXPECT_EQ(reads.size(), streams);
    EXPECT_EQ(seen.size(), streams);
    expect_no_change_of_way();
}

TEST_F(SourceTest, ReadsWhatClientsOfStreamsPublish) {
    auto options = stream_options(StreamWay::ByStreamProtocol);
    auto message = [](std::uint64_t id) { return testing::message_bytes(event_json(id)); };

    auto published = testing::publish_entries(
        options, options.queue,
        {testing::entry_bytes(message(1)), testing::batch_bytes({message(2), message(3)}),
         testing::batch_bytes({message(4), message(5)}, /*compression=*/1),
         testing::entry_bytes("no message"), testing::entry_bytes(message(7))});
    auto reads = read(*open(options), 6);
    auto later = read(*open(options, 2), 4);

    ASSERT_TRUE(published) << published.error().message;
    ASSERT_EQ(reads.size(), 6);
    for (auto at : {0U, 1U, 2U}) {
        EXPECT_EQ(reads[at].text, event_json(at + 1));
        EXPECT_EQ(reads[at].number, at + 1);
    }
    EXPECT_THAT(reads[3].fault, HasSubstr("messages 4 to 5 are compressed by gzip"));
    EXPECT_EQ(reads[3].number, 5);
    EXPECT_THAT(reads[4].fault, HasSubstr("AMQP 1.0"));
    EXPECT_EQ(reads[5].text, event_json(7));
    EXPECT_EQ(reads[5].number, 7);
    ASSERT_EQ(later.size(), 4);
    EXPECT_EQ(later[0].text, event_json(3)) << "a position may lie within a batch";
}

TEST_F(SourceTest, ReadsByAmqpWhereNobodySpeaksTheStreamProtocol) {
    auto options = stream_options(StreamWay::ByStreamProtocol);
    publish(options, options.queue, 1, 100);
    auto nobody = options;
    nobody.stream_port = std::uint16_t{1};
    auto somebody_else = options;
    somebody_else.stream_port = options.port;

    for (const auto& each : {nobody, somebody_else}) {
        auto diagnostics = observe::testing::CapturedDiagnostics{};
        auto source = open_source(each, diagnostics);
        ASSERT_TRUE(source->resume(each.queue, 0));
        expect_events(read(*source, 100), 1, 100);
        auto lines = diagnostics.lines();
        ASSERT_EQ(lines.size(), 1);
        EXPECT_THAT(lines[0], HasSubstr("streams are read by amqp"));
        EXPECT_THAT(lines[0], HasSubstr("rabbitmq-plugins enable rabbitmq_stream"));
    }
}

TEST_F(SourceTest, SaysThatAQueueIsMissing) {
    auto options = queue_options(QueueType::Classic);
    publish(options, options.queue, 1, 1);
    auto source = open_source(options, diagnostics_);

    auto missing = source->resume("nobody.made.this", 0);

    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Errc::NotFound);
    EXPECT_THAT(missing.error().message, HasSubstr("nobody.made.this"));
    ASSERT_TRUE(source->resume(options.queue, 0));
    expect_events(read(*source, 1), 1, 1);
}

TEST_F(SourceTest, SaysThatAStreamIsNoQueue) {
    auto options = queue_options(QueueType::Stream);
    options.type = QueueType::Quorum;

    auto refused = open_source(options, diagnostics_)->resume(options.queue, 0);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::Conflict);
    EXPECT_THAT(refused.error().message, HasSubstr("is a stream"));
}

TEST_F(SourceTest, WhatIsNoEventComesWithTheReason) {
    for (auto options :
         {stream_options(StreamWay::ByStreamProtocol), stream_options(StreamWay::ByAmqp),
          queue_options(QueueType::Quorum), queue_options(QueueType::Classic)}) {
        options.limits.event_bytes_max = 1000;
        auto plain = amqp_basic_properties_t{};
        auto text = plain;
        text._flags = AMQP_BASIC_CONTENT_TYPE_FLAG;
        text.content_type = internal::bytes_of("text/plain");
        auto headers = internal::Table{};
        headers.number("cloudEvents:id", 7).text("cloudEvents:source", "/s");
        headers.text("cloudEvents:type", "t").text("cloudEvents:specversion", "1.0");
        headers.boolean("cloudEvents:flag", true).number("x-stream-offset", 5);
        auto binary = text;
        binary._flags |= AMQP_BASIC_HEADERS_FLAG;
        binary.headers = headers.view();

        publish_raw(options.queue, plain, event_json(1));
        publish_raw(options.queue, text, "hello");
        publish_raw(options.queue, plain, event_json(3, 1001));
        publish_raw(options.queue, plain, event_json(4, 300'000));
        publish_raw(options.queue, plain, "");
        publish_raw(options.queue, binary, "hello");
        auto reads = read(*open(options), 6);

        ASSERT_EQ(reads.size(), 6);
        EXPECT_EQ(reads[0].text, event_json(1));
        EXPECT_EQ(reads[0].fault, "");
        EXPECT_THAT(reads[1].fault, HasSubstr("text/plain"));
        EXPECT_EQ(reads[1].text, "hello");
        EXPECT_THAT(reads[2].fault, HasSubstr("at most 1000"));
        EXPECT_THAT(reads[3].fault, HasSubstr("300000 bytes"));
        EXPECT_EQ(reads[4].number, 5);
        // A sender's own header of that name changes nothing.
        EXPECT_EQ(reads[5].number, 6);
        EXPECT_EQ(reads[5].fault, "");
        EXPECT_THAT(reads[5].text, HasSubstr(R"("id":"7")"));
        EXPECT_THAT(reads[5].text, HasSubstr(R"("flag":"true")"));
    }
}

TEST_P(StreamTest, TellsHowMuchWaits) {
    auto options = stream_options(GetParam());
    publish(options, options.queue, 1, 500);
    auto source = open(options);

    EXPECT_TRUE(wait_until([&] { return source->lag() == 500; }));
    read(*source, 500);
    EXPECT_TRUE(wait_until([&] { return source->lag() == 0; }));
}

class QueueTest : public SourceTest, public ::testing::WithParamInterface<QueueType> {};

INSTANTIATE_TEST_SUITE_P(Types, QueueTest, ::testing::Values(QueueType::Quorum, QueueType::Classic),
                         [](const auto& each) { return std::string{to_string(each.param)}; });

TEST_P(QueueTest, ForgetsWhatWasConfirmed) {
    auto options = queue_options(GetParam());
    publish(options, options.queue, 1, 100);
    {
        auto source = open(options);
        auto chunk = source->read(1, 10s);
        ASSERT_TRUE(chunk);
        EXPECT_FALSE(chunk->is_numbered);
        EXPECT_EQ(chunk->records.front().number, 1);
        read(*source, 100 - chunk->records.size());
        source->confirm(options.queue, 30);
        // Not until all before it are done with.
        source->pass_over(options.queue, 33);
        source->pass_over(options.queue, 32);
        source->pass_over(options.queue, 31);
    }

    auto source = open(options);
    auto again = read(*source, 67);

    ASSERT_EQ(again.size(), 67);
    EXPECT_EQ(again.front().number, 1);
    EXPECT_EQ(again.front().text, event_json(34));
    EXPECT_EQ(again.back().text, event_json(100));
}

TEST_P(QueueTest, ForgetsHoweverMuchIsConfirmedAtOnce) {
    auto options = queue_options(GetParam());
    publish(options, options.queue, 1, 1000);
    {
        auto source = open(options);
        read(*source, 1000);
        source->confirm(options.queue, 901);
    }

    auto again = read(*open(options), 99);

    ASSERT_EQ(again.size(), 99);
    EXPECT_EQ(again.front().text, event_json(902));
}

TEST_P(QueueTest, PrefetchHoldsBackWhatIsNotConfirmed) {
    auto options = queue_options(GetParam());
    options.prefetch = 10;
    publish(options, options.queue, 1, 100);
    auto source = open(options);

    auto first = read(*source, 10);
    auto none = source->read(1 << 20, 100ms);
    source->confirm(options.queue, 10);
    auto second = read(*source, 10);

    expect_events(first, 1, 10);
    ASSERT_TRUE(none);
    EXPECT_TRUE(none->records.empty());
    expect_events(second, 11, 20);
}

TEST_P(QueueTest, AcknowledgesWhileNobodyReads) {
    auto options = queue_options(GetParam());
    options.prefetch = 10;
    publish(options, options.queue, 1, 20);
    auto source = open(options);
    read(*source, 10);
    ASSERT_EQ(ready_in(options.queue), 10);

    source->confirm(options.queue, 10);

    // What comes next is on its way to us then.
    EXPECT_TRUE(wait_until([&] { return ready_in(options.queue) == 0; }));
}

TEST_P(QueueTest, IsNoStream) {
    auto options = queue_options(GetParam());
    options.type = QueueType::Stream;

    auto refused = open_source(options, diagnostics_)->resume(options.queue, 0);

    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("x-stream-offset"));
}

TEST_P(QueueTest, TellsHowMuchWaits) {
    auto options = queue_options(GetParam());
    options.prefetch = 10;
    publish(options, options.queue, 1, 500);

    auto source = open(options);

    EXPECT_TRUE(wait_until([&] { return source->lag() == 490; }));
}

TEST_P(QueueTest, OneOfSeveralReadersIsActive) {
    auto options = queue_options(GetParam());
    options.queue += ".single";
    options.is_declared = true;
    options.is_single_active = true;
    auto first = open(options);
    auto second = open(options);
    publish(options, options.queue, 1, 10);

    auto reads = read(*first, 10);
    auto none = second->read(1000, 100ms);
    first->confirm(options.queue, 5);
    first.reset();
    auto rest = read(*second, 5);
    second.reset();
    remove(options.queue);

    expect_events(reads, 1, 10);
    ASSERT_TRUE(none);
    EXPECT_TRUE(none->records.empty());
    expect_events(rest, 6, 10);
}

TEST_P(QueueTest, BindsAQueueOfItsOwn) {
    auto options = queue_options(GetParam());
    options.queue += ".bound";
    options.is_declared = true;
    options.exchange = "amq.topic";
    options.routing_key = options.queue + ".#";
    auto source = open(options);

    auto producer = open_producer(options, diagnostics_);
    producer->send({.to = options.queue + ".one", .key = "1", .json = event_json(1)},
                   [](const Result<void>& result) { EXPECT_TRUE(result); });
    ASSERT_TRUE(producer->flush(30s));
    auto reads = read(*source, 1);
    source.reset();
    remove(options.queue);

    expect_events(reads, 1, 1);
}

} // namespace

} // namespace sluice::connector::amqp
