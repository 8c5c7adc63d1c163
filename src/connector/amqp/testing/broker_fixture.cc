#include "connector/amqp/testing/broker_fixture.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace sluice::connector::amqp::testing {

namespace {

constexpr auto fixture_channel = amqp_channel_t{1};

} // namespace

std::string to_string(StreamWay way) {
    return way == StreamWay::ByAmqp ? "by_amqp" : "by_stream_protocol";
}

std::string event_json(std::uint64_t id, std::size_t bytes) {
    auto json = fmt::format(
        R"({{"specversion":"1.0","id":"{}","source":"/test","type":"t","data":{{"pad":""}}}})", id);
    if (bytes > json.size()) {
        json.insert(json.size() - 3, bytes - json.size(), 'x');
    }
    return json;
}

void BrokerFixture::SetUp() {
    auto server = shared_server();
    if (!server && server.error().code == Errc::NotFound) {
        GTEST_SKIP() << server.error().message;
    }
    ASSERT_TRUE(server.has_value()) << server.error().message;
    server_ = *server;
}

void BrokerFixture::TearDown() {
    for (const auto& queue : queues_) {
        remove(queue);
    }
}

internal::Connection BrokerFixture::connect() {
    auto deadline = Steady::now() + std::chrono::seconds{30};
    auto connection = internal::Connection::open(server_->options(), "test");
    while (!connection && Steady::now() < deadline) {
        connection = internal::Connection::open(server_->options(), "test");
    }
    return std::move(connection).value();
}

void BrokerFixture::remove(const std::string& queue) {
    auto connection = connect();
    if (connection.open_channel(fixture_channel)) {
        std::ignore = connection.delete_queue(fixture_channel, queue);
    }
    connection.close();
}

void BrokerFixture::declare(const Options& options, const std::string& queue) {
    auto connection = connect();
    ASSERT_TRUE(connection.open_channel(fixture_channel));
    auto declared = connection.declare_queue(fixture_channel, queue, options);
    ASSERT_TRUE(declared) << declared.error().message;
    connection.close();
    queues_.push_back(queue);
}

Options BrokerFixture::queue_options(QueueType type) {
    auto options = server_->options();
    options.type = type;
    return queue_options(std::move(options));
}

Options BrokerFixture::stream_options(StreamWay way) {
    auto options = queue_options(QueueType::Stream);
    if (way == StreamWay::ByAmqp) {
        options.stream_port = std::uint16_t{0};
    }
    return options;
}

void BrokerFixture::expect_no_change_of_way() const {
    EXPECT_THAT(
        diagnostics_.lines(),
        ::testing::Not(::testing::Contains(::testing::HasSubstr("streams are read by amqp"))));
}

Options BrokerFixture::queue_options(Options options) {
    static auto count = std::atomic<int>{0};
    options.queue = fmt::format("test.{}", ++count);
    declare(options, options.queue);
    return options;
}

void BrokerFixture::publish(const Options& options, const std::string& queue, std::uint64_t first,
                            std::uint64_t last, std::size_t bytes) {
    auto failed = std::atomic<int>{0};
    auto producer = open_producer(options, diagnostics_);
    for (auto id = first; id <= last; ++id) {
        producer->send({.to = queue, .key = std::to_string(id), .json = event_json(id, bytes)},
                       [&](const Result<void>& result) { failed += result ? 0 : 1; });
    }
    auto flushed = producer->flush(std::chrono::seconds{60});
    ASSERT_TRUE(flushed) << flushed.error().message;
    ASSERT_EQ(failed, 0);
}

void BrokerFixture::publish_raw(const std::string& queue, const amqp_basic_properties_t& properties,
                                std::string_view body) {
    auto connection = connect();
    ASSERT_TRUE(connection.open_channel(fixture_channel));
    ASSERT_TRUE(connection.select_confirms(fixture_channel));
    ASSERT_TRUE(connection.publish(fixture_channel, {}, queue, properties, body));
    auto frame = amqp_frame_t{};
    auto came = connection.next(frame, std::chrono::seconds{30});
    ASSERT_TRUE(came && *came);
    ASSERT_EQ(frame.payload.method.id, amqp_method_number_t{AMQP_BASIC_ACK_METHOD});
    connection.close();
}

void BrokerFixture::append(std::vector<Read>& reads, const event::Chunk& chunk) {
    for (const auto& record : chunk.records) {
        reads.push_back({.partition = chunk.partition,
                         .number = record.number,
                         .text = chunk.bytes->substr(record.begin, record.size),
                         .fault = record.fault});
    }
}

std::vector<Read> BrokerFixture::read(event::Source& source, std::size_t count) {
    auto reads = std::vector<Read>{};
    auto deadline = Steady::now() + std::chrono::seconds{30};
    while (reads.size() < count && Steady::now() < deadline) {
        auto chunk = source.read(64 * 1024, std::chrono::milliseconds{200});
        if (!chunk) {
            ADD_FAILURE() << chunk.error().message;
            break;
        }
        append(reads, *chunk);
    }
    return reads;
}

bool BrokerFixture::wait_until(const std::function<bool()>& is_done, int seconds) {
    auto deadline = Steady::now() + std::chrono::seconds{seconds};
    while (!is_done()) {
        if (Steady::now() >= deadline) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return true;
}

} // namespace sluice::connector::amqp::testing
