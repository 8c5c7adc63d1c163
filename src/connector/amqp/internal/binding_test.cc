#include "connector/amqp/internal/binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/amqp/internal/bytes.h"
#include "event/codec.h"

namespace sluice::connector::amqp::internal {

namespace {

using ::testing::HasSubstr;

amqp_table_entry_t entry(std::string_view name, std::uint8_t kind) {
    auto made = amqp_table_entry_t{};
    made.key = bytes_of(name);
    made.value.kind = kind;
    return made;
}

amqp_table_entry_t text_entry(std::string_view name, std::string_view text) {
    auto made = entry(name, AMQP_FIELD_KIND_UTF8);
    made.value.value.bytes = bytes_of(text);
    return made;
}

amqp_basic_properties_t properties_of(std::vector<amqp_table_entry_t>& entries) {
    auto properties = amqp_basic_properties_t{};
    properties._flags = AMQP_BASIC_HEADERS_FLAG;
    properties.headers = {.num_entries = static_cast<int>(entries.size()),
                          .entries = entries.data()};
    return properties;
}

std::vector<std::pair<std::string, std::string>> attributes_of(
    std::vector<amqp_table_entry_t> entries) {
    auto reader = MessageReader{};
    auto message = reader.read(properties_of(entries), "");
    EXPECT_TRUE(message);
    auto attributes = std::vector<std::pair<std::string, std::string>>{};
    for (const auto& [name, value] : message->attributes) {
        attributes.emplace_back(name, value);
    }
    return attributes;
}

using Attributes = std::vector<std::pair<std::string, std::string>>;

TEST(AmqpBinding, AttributesHaveEitherSeparator) {
    auto attributes =
        attributes_of({text_entry("cloudEvents:id", "1"), text_entry("cloudEvents_type", "t"),
                       text_entry("cloudEventsnone", "x"), text_entry("other", "y")});

    EXPECT_EQ(attributes, (Attributes{{"id", "1"}, {"type", "t"}}));
}

TEST(AmqpBinding, ValuesOfEveryTypeOfCloudEventsAreRead) {
    auto boolean = entry("cloudEvents:a", AMQP_FIELD_KIND_BOOLEAN);
    boolean.value.value.boolean = 1;
    auto small = entry("cloudEvents:b", AMQP_FIELD_KIND_I8);
    small.value.value.i8 = -5;
    auto byte = entry("cloudEvents:c", AMQP_FIELD_KIND_U8);
    byte.value.value.u8 = 200;
    auto large = entry("cloudEvents:d", AMQP_FIELD_KIND_I64);
    large.value.value.i64 = -9'000'000'000;
    auto time = entry("cloudEvents:time", AMQP_FIELD_KIND_TIMESTAMP);
    time.value.value.u64 = 1'700'000'000;
    auto bytes = entry("cloudEvents:e", AMQP_FIELD_KIND_BYTES);
    bytes.value.value.bytes = bytes_of("\x01\x02");
    auto nothing = entry("cloudEvents:f", AMQP_FIELD_KIND_VOID);

    EXPECT_EQ(attributes_of({boolean, small, byte, large, time, bytes, nothing}),
              (Attributes{{"a", "true"},
                          {"b", "-5"},
                          {"c", "200"},
                          {"d", "-9000000000"},
                          {"time", "2023-11-14T22:13:20Z"},
                          {"e", "AQI="}}));
}

TEST(AmqpBinding, OtherTypesAreFaults) {
    auto reader = MessageReader{};
    for (auto kind : {AMQP_FIELD_KIND_F64, AMQP_FIELD_KIND_DECIMAL, AMQP_FIELD_KIND_ARRAY,
                      AMQP_FIELD_KIND_TABLE}) {
        auto entries = std::vector{entry("cloudEvents:x", static_cast<std::uint8_t>(kind))};
        auto message = reader.read(properties_of(entries), "");
        ASSERT_FALSE(message);
        EXPECT_THAT(message.error().message, HasSubstr("cloudEvents:x"));
    }
    auto late = entry("cloudEvents:time", AMQP_FIELD_KIND_TIMESTAMP);
    late.value.value.u64 = ~0ULL;
    auto entries = std::vector{late};
    EXPECT_FALSE(reader.read(properties_of(entries), ""));
    auto elsewhere = std::vector{entry("x-death", AMQP_FIELD_KIND_ARRAY)};
    EXPECT_TRUE(reader.read(properties_of(elsewhere), "")) << "what is no attribute is no fault";
}

TEST(AmqpBinding, OffsetsAreThoseOfStreams) {
    auto offset = entry("x-stream-offset", AMQP_FIELD_KIND_I64);
    offset.value.value.i64 = 42;
    auto negative = entry("x-stream-offset", AMQP_FIELD_KIND_I64);
    negative.value.value.i64 = -1;
    auto good = std::vector{text_entry("a", "b"), offset};
    auto bad = std::vector{negative};
    auto text = std::vector{text_entry("x-stream-offset", "7")};

    EXPECT_EQ(stream_offset(properties_of(good)), 42);
    EXPECT_EQ(stream_offset(properties_of(bad)), std::nullopt);
    EXPECT_EQ(stream_offset(properties_of(text)), std::nullopt);
    EXPECT_EQ(stream_offset(amqp_basic_properties_t{}), std::nullopt);
}

TEST(AmqpBinding, BinaryModeComesBack) {
    auto codec = event::Codec{};
    auto event = codec.parse(R"({"specversion":"1.0","id":"1","source":"/s","type":"t",)"
                             R"("datacontenttype":"application/json","data":{"a":1}})");
    auto binary = event::to_binary(*event);
    auto writer = MessageWriter{};
    auto reader = MessageReader{};
    auto builder = event::ChunkBuilder{};

    auto properties = writer.binary("key", binary);
    auto message = reader.read(properties, binary.body);
    ASSERT_TRUE(message);
    builder.add(1, *message);
    auto chunk = builder.take("q");

    ASSERT_EQ(chunk.records[0].fault, "");
    auto again = codec.parse(std::string_view{*chunk.bytes}.substr(0, chunk.records[0].size));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->whole(), event->whole());
    EXPECT_EQ(view_of(properties.message_id), "key");
    EXPECT_EQ(properties.delivery_mode, AMQP_DELIVERY_PERSISTENT);
}

} // namespace

} // namespace sluice::connector::amqp::internal
