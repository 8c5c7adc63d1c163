#include "connector/nats/binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/nats/testing/events.h"

namespace sluice::connector::nats {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

/// As a reader would see them.
std::vector<Field> fields_of(const Encoded& encoded) {
    return {encoded.fields.begin(), encoded.fields.end()};
}

} // namespace

TEST(Binding, TakesStructuredMessagesAsTheyAre) {
    auto binding = Binding{};

    auto message = binding.read(
        {{"content-type", "application/cloudevents+json; charset=utf-8"}, {"ce-id", "no"}}, "{}");

    EXPECT_EQ(message.content_type, "application/cloudevents+json; charset=utf-8");
    EXPECT_TRUE(message.attributes.empty());
    EXPECT_EQ(message.body, "{}");
}

TEST(Binding, DecodesAttributesOfBinaryMessages) {
    auto binding = Binding{};

    auto message = binding.read({{"ce-id", "a%20b%"},
                                 {"CE-Type", "t"},
                                 {"ce-datacontenttype", "text/plain"},
                                 {"traceparent", "other"}},
                                "x");

    EXPECT_EQ(message.content_type, "text/plain");
    EXPECT_THAT(message.attributes, ElementsAre(Pair("id", "a b%"), Pair("type", "t")));
}

TEST(Binding, FallsBackToTheContentTypeOfTheMessage) {
    auto binding = Binding{};

    auto message = binding.read({{"Content-Type", "text/plain"}, {"ce-id", "1"}}, "x");

    EXPECT_EQ(message.content_type, "text/plain");
}

TEST(Binding, BringsBinaryEventsBack) {
    auto json = std::string{
        R"({"specversion":"1.0","id":"ü 100%","source":"/s","type":"t","datacontenttype":"application/json","data":{"a":1}})"};
    auto encoded = encode(Mode::Binary, json);
    ASSERT_TRUE(encoded) << encoded.error().message;
    auto fields = fields_of(*encoded);
    auto binding = Binding{};
    auto builder = event::ChunkBuilder{};

    builder.add(1, binding.read(fields, encoded->body));
    auto chunk = builder.take("p");

    ASSERT_EQ(chunk.records.size(), 1);
    EXPECT_EQ(chunk.records[0].fault, "");
    auto event = event::Codec{}.parse(
        std::string_view{*chunk.bytes}.substr(chunk.records[0].begin, chunk.records[0].size));
    ASSERT_TRUE(event) << event.error().message;
    EXPECT_EQ(event->id(), "ü 100%");
    EXPECT_EQ(encoded->body, R"({"a":1})");
}

TEST(Binding, RefusesToTakeApartWhatIsNoEvent) {
    auto encoded = encode(Mode::Binary, R"({"id":"1"})");

    ASSERT_FALSE(encoded);
    EXPECT_EQ(encoded.error().code, Errc::InvalidInput);
}

TEST(Binding, KeepsWhatIsNoEventWithTheReason) {
    auto binding = Binding{};
    auto builder = event::ChunkBuilder{};

    builder.add(1, binding.read({{"Content-Type", "text/plain"}}, "hello"));
    builder.add(2, binding.read({{"ce-id", "1"}}, "no type, no source"));
    auto chunk = builder.take("p");

    // Whether what is required is there is checked where the event is read.
    EXPECT_THAT(chunk.records[0].fault, HasSubstr("text/plain"));
    EXPECT_EQ(chunk.records.size(), 2);
}

} // namespace sluice::connector::nats
