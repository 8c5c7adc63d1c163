#include "connector/amqp/internal/stream/message_sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connector/amqp/testing/stream_bytes.h"

namespace sluice::connector::amqp::internal::stream {

namespace {

using namespace std::string_view_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

/// Application properties with one attribute, and no body.
std::string with_attribute(std::string_view value) {
    auto key =
        "\xA1\x10"
        "cloudEvents:name"sv;
    auto map = std::string{"\0\x53\x74\xC1"sv};
    map += static_cast<char>(1 + key.size() + value.size());
    map += '\x02';
    map += key;
    map += value;
    return map;
}

std::string attribute_in(std::string_view value) {
    auto reader = SectionReader{};
    auto bytes = with_attribute(value);
    auto message = reader.read(bytes);
    if (!message) {
        return "refused";
    }
    return message->attributes.empty() ? "none" : std::string{message->attributes[0].second};
}

TEST(SectionReader, ReadsWhatWasPublishedByAmqp091) {
    auto reader = SectionReader{};
    // As RabbitMQ 3.10 keeps it.
    auto bytes =
        "\0\x53\x72\xC1\x3B\x06\xA3\x0Dx-routing-key\xA1\x02s1\xA3\x0Ax-exchange\xA1\0"
        "\xA3\x15x-basic-delivery-mode\x50\x02\0\x53\x75\xA0\x0B{\"hello\":1}"sv;

    auto message = reader.read(bytes);

    ASSERT_TRUE(message) << message.error().message;
    EXPECT_EQ(message->body, R"({"hello":1})");
    EXPECT_EQ(message->body.data(), bytes.data() + bytes.size() - 11) << "nothing is copied";
    EXPECT_EQ(message->content_type, "");
}

TEST(SectionReader, FindsTheContentType) {
    auto reader = SectionReader{};
    auto typed = testing::message_bytes("body", "text/plain");
    auto untyped = "\0\x53\x73\xC0\x03\x02\x40\x40\0\x53\x75\xA0\x01x"sv;

    auto message = reader.read(typed);
    auto other = reader.read(untyped);

    ASSERT_TRUE(message && other);
    EXPECT_EQ(message->content_type, "text/plain");
    EXPECT_EQ(message->body, "body");
    EXPECT_EQ(other->content_type, "");
}

TEST(SectionReader, AttributesBecomeTexts) {
    EXPECT_EQ(attribute_in("\xA1\x03"
                           "abc"sv),
              "abc");
    EXPECT_EQ(attribute_in("\xB1\0\0\0\x03"
                           "abc"sv),
              "abc");
    EXPECT_EQ(attribute_in("\xA3\x03"
                           "abc"sv),
              "abc");
    EXPECT_EQ(attribute_in("\x41"sv), "true");
    EXPECT_EQ(attribute_in("\x56\0"sv), "false");
    EXPECT_EQ(attribute_in("\x43"sv), "0");
    EXPECT_EQ(attribute_in("\x50\xFF"sv), "255");
    EXPECT_EQ(attribute_in("\x51\xFF"sv), "-1");
    EXPECT_EQ(attribute_in("\x54\xFE"sv), "-2");
    EXPECT_EQ(attribute_in("\x60\x01\0"sv), "256");
    EXPECT_EQ(attribute_in("\x71\xFF\xFF\xFF\xFF"sv), "-1");
    EXPECT_EQ(attribute_in("\x80\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"sv), "18446744073709551615");
    EXPECT_EQ(attribute_in("\x81\0\0\0\0\0\0\0\x07"sv), "7");
    EXPECT_EQ(attribute_in("\x83\0\0\0\0\0\0\x03\xE8"sv), "1970-01-01T00:00:01Z");
    EXPECT_EQ(attribute_in("\xA0\x01"
                           "a"sv),
              "YQ==");
    EXPECT_EQ(attribute_in("\x40"sv), "none") << "what is null is not there";
}

TEST(SectionReader, RefusesAttributesOfOtherTypes) {
    EXPECT_EQ(attribute_in("\x82\0\0\0\0\0\0\0\0"sv), "refused") << "a double";
    EXPECT_EQ(attribute_in("\x83\x7F\0\0\0\0\0\0\0"sv), "refused") << "a time far away";
    EXPECT_EQ(attribute_in("\x45"sv), "refused") << "a list";
    EXPECT_EQ(attribute_in("\0\x53\x01\x40"sv), "refused") << "something described";
}

TEST(SectionReader, NamesTheHeaderThatIsWrong) {
    auto reader = SectionReader{};
    auto bytes = with_attribute("\x45"sv);

    auto message = reader.read(bytes);

    ASSERT_FALSE(message);
    EXPECT_EQ(message.error().code, Errc::InvalidInput);
    EXPECT_THAT(message.error().message, HasSubstr("cloudEvents:name"));
}

TEST(SectionReader, StructuredEventsHaveNoAttributesBeside) {
    auto reader = SectionReader{};
    auto bytes = testing::message_bytes("{}") + with_attribute("\x45"sv);

    auto message = reader.read(bytes);

    ASSERT_TRUE(message);
    EXPECT_THAT(message->attributes, IsEmpty());
}

TEST(SectionReader, SeveralDataSectionsAreOneBody) {
    auto reader = SectionReader{};

    auto message = reader.read(
        "\0\x53\x75\xA0\x01"
        "a"
        "\0\x53\x75\xA0\x01"
        "b"
        "\0\x53\x75\xB0\0\0\0\x01"
        "c"sv);

    ASSERT_TRUE(message);
    EXPECT_EQ(message->body, "abc");
}

TEST(SectionReader, ABodyMayBeAText) {
    auto reader = SectionReader{};

    auto text = reader.read("\0\x53\x77\xA1\x02{}"sv);
    auto number = reader.read("\0\x53\x77\x50\x02"sv);

    ASSERT_TRUE(text);
    EXPECT_EQ(text->body, "{}");
    EXPECT_FALSE(number);
}

TEST(SectionReader, RefusesWhatIsNoMessage) {
    auto reader = SectionReader{};
    auto good = testing::message_bytes("body", "text/plain");

    EXPECT_FALSE(reader.read("{\"specversion\":\"1.0\"}"));
    EXPECT_FALSE(
        reader.read("\0\x53\x99\xA0\x01"
                    "a"sv))
        << "no section has this number";
    EXPECT_FALSE(
        reader.read("\0\x53\x75\xB0\xFF\xFF\xFF\xFF"
                    "a"sv));
    EXPECT_FALSE(reader.read(std::string(100, '\0'))) << "described without end";
    EXPECT_FALSE(reader.read(std::string_view{good}.substr(0, good.size() - 1)));
}

TEST(SectionReader, BothPrefixesAreAttributes) {
    auto reader = SectionReader{};

    auto message = reader.read(
        "\0\x53\x74\xC1\x23\x06\xA1\x0E"
        "cloudEvents_id\xA1\x01"
        "1"
        "\xA1\x05other\xA1\x01"
        "2"
        "\xA1\x00\xA1\x01"
        "3"sv);

    ASSERT_TRUE(message) << message.error().message;
    EXPECT_THAT(message->attributes, ElementsAre(Pair("id", "1")));
}

} // namespace

} // namespace sluice::connector::amqp::internal::stream
