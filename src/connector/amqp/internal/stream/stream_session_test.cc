#include "connector/amqp/internal/stream/stream_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/amqp/testing/fake_node.h"
#include "connector/amqp/testing/stream_bytes.h"

namespace sluice::connector::amqp::internal::stream {

namespace {

using namespace std::chrono_literals;
using testing::FakeNode;
using ::testing::HasSubstr;

Options start(FakeNode& node) {
    node.start();
    auto options = Options{};
    options.stream_port = node.port();
    return options;
}

std::optional<event::Chunk> read_one(Session& session) {
    auto pumped = session.pump(1000, std::chrono::steady_clock::now() + 10s);
    EXPECT_TRUE(pumped) << pumped.error().message;
    return session.take();
}

TEST(StreamSession, ReadsFromTheNodeItIsConnectedTo) {
    auto node = FakeNode{};
    node.chunk = testing::chunk_of(0, {"{}"});
    // Whoever asks comes by another way, such as a proxy: what it advertises is compared.
    node.advertised = {.host = "node.invalid", .port = 5552};
    node.replica = node.advertised;

    auto session = StreamSession::open(start(node));
    ASSERT_TRUE(session) << session.error().message;
    ASSERT_TRUE((*session)->attach("stream", 0));
    auto chunk = read_one(**session);
    (*session)->close();

    ASSERT_TRUE(chunk);
    EXPECT_EQ(chunk->partition, "stream");
    EXPECT_EQ(chunk->records.front().number, 1);
}

TEST(StreamSession, FollowsAStreamToTheNodeThatHasIt) {
    auto near = FakeNode{};
    auto far = FakeNode{};
    near.advertised = {.host = "node.invalid", .port = 5552};
    near.replica = far.advertised;
    far.chunk = testing::chunk_of(6, {"{}", "{}"});

    far.start();
    auto session = StreamSession::open(start(near));
    ASSERT_TRUE(session);
    auto attached = (*session)->attach("stream", 7);
    auto chunk = read_one(**session);
    (*session)->detach("stream");
    (*session)->close();

    ASSERT_TRUE(attached) << attached.error().message;
    ASSERT_TRUE(chunk);
    EXPECT_EQ(chunk->records.front().number, 8);
    EXPECT_EQ(near.subscriptions(), 0);
    EXPECT_EQ(far.subscriptions(), 1);
}

TEST(StreamSession, LeavesToAmqpWhatLiesOutOfReach) {
    auto node = FakeNode{};
    node.advertised = {.host = "node.invalid", .port = 5552};
    node.replica = {.host = "127.0.0.1", .port = 1};

    auto session = StreamSession::open(start(node));
    ASSERT_TRUE(session);
    auto attached = (*session)->attach("stream", 0);

    ASSERT_FALSE(attached);
    EXPECT_EQ(attached.error().code, Errc::Unsupported);
    EXPECT_THAT(attached.error().message, HasSubstr("127.0.0.1:1"));
}

} // namespace

} // namespace sluice::connector::amqp::internal::stream
