#include "event/message.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace sluice::event {
namespace {

using Attributes = std::array<std::pair<std::string_view, std::string_view>, 4>;

constexpr auto attributes =
    Attributes{{{"specversion", "1.0"}, {"id", "7"}, {"source", "/shop"}, {"type", "order.paid"}}};

std::string text_of(const Chunk& chunk, std::size_t at) {
    return chunk.bytes->substr(chunk.records[at].begin, chunk.records[at].size);
}

Chunk chunk_of(const Message& message, Limits limits = {}) {
    auto builder = ChunkBuilder{limits};
    builder.add(3, message);
    return builder.take("orders");
}

TEST(ChunkBuilder, KeepsAStructuredMessageAsItIs) {
    auto chunk = chunk_of({.content_type = "application/cloudevents+json; charset=utf-8",
                           .attributes = {},
                           .body = "{\n\"id\":1}"});
    EXPECT_EQ(text_of(chunk, 0), "{\n\"id\":1}");
    EXPECT_EQ(chunk.records[0].number, 3U);
    EXPECT_EQ(chunk.records[0].fault, "");
}

TEST(ChunkBuilder, TakesAMessageThatSaysNothingForStructured) {
    EXPECT_EQ(text_of(chunk_of({.content_type = {}, .attributes = {}, .body = "{}"}), 0), "{}");
}

TEST(ChunkBuilder, WritesABinaryMessageAsOneEvent) {
    auto chunk = chunk_of(
        {.content_type = "application/json", .attributes = attributes, .body = R"({"paid":1})"});
    auto codec = Codec{};
    auto event = codec.parse(text_of(chunk, 0));
    ASSERT_TRUE(event) << event.error().message;
    EXPECT_EQ(event->type(), "order.paid");
    EXPECT_EQ(event->data_json(), R"({"paid":1})");
    auto again = to_binary(*event);
    EXPECT_EQ(again.content_type, "application/json");
    EXPECT_EQ(again.body, R"({"paid":1})");
    EXPECT_EQ(again.attributes.size(), attributes.size());
}

TEST(ChunkBuilder, KeepsWhatIsNoEventWithTheReason) {
    auto builder = ChunkBuilder{{.event_bytes_max = 8}};
    builder.add(1, {.content_type = "text/plain", .attributes = {}, .body = "hello"});
    builder.add(2,
                {.content_type = "application/cloudevents+xml", .attributes = {}, .body = "<e/>"});
    builder.add(3, {.content_type = {}, .attributes = {}, .body = "123456789"});
    auto bad = std::array<std::pair<std::string_view, std::string_view>, 1>{{{"Big", "1"}}};
    builder.add(4, {.content_type = "text/plain", .attributes = bad, .body = "b"});
    builder.add(5, {.content_type = {}, .attributes = {}, .body = "{}"});
    auto chunk = builder.take("orders");
    ASSERT_EQ(chunk.records.size(), 5U);
    EXPECT_NE(chunk.records[0].fault.find("text/plain without attributes"), std::string::npos);
    EXPECT_NE(chunk.records[1].fault.find("cloudevents+xml is not read"), std::string::npos);
    EXPECT_NE(chunk.records[2].fault.find("9 bytes: at most 8"), std::string::npos);
    EXPECT_NE(chunk.records[3].fault.find("\"Big\""), std::string::npos);
    EXPECT_EQ(chunk.records[4].fault, "");
    EXPECT_EQ(text_of(chunk, 0), "hello");
    EXPECT_EQ(text_of(chunk, 4), "{}");
}

TEST(ChunkBuilder, IsEmptyOnceTaken) {
    auto builder = ChunkBuilder{};
    builder.add(1, {.content_type = {}, .attributes = {}, .body = "{}"});
    auto first = builder.take("orders");
    EXPECT_EQ(builder.count(), 0U);
    EXPECT_TRUE(builder.take("orders").records.empty());
    EXPECT_GE(first.bytes->size(), 2 + Codec::padding_bytes);
}

} // namespace
} // namespace sluice::event
