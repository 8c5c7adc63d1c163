#include "connector/amqp/internal/stream/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::connector::amqp::internal::stream {

namespace {

using namespace std::string_view_literals;
using ::testing::ElementsAre;
using ::testing::Pair;

TEST(Commands, ASubscriptionIsWrittenAsTheProtocolHasIt) {
    auto bytes = std::string{};
    auto start = StreamStart{.at = StreamStart::At::Offset, .offset = 0x0102};

    CommandWriter{bytes}.subscribe(7, {.id = 3, .stream = "abc", .start = start, .credit = 10});

    EXPECT_EQ(bytes,
              "\0\0\0\x1E\0\x07\0\x01" // Size, key, version.
              "\0\0\0\x07\x03\0\x03"
              "abc"                        // Correlation, subscription, stream.
              "\0\x04\0\0\0\0\0\0\x01\x02" // By offset.
              "\0\x0A\0\0\0\0"sv);         // Credit, no properties.
}

TEST(Commands, OnlyAnOffsetHasANumber) {
    auto bytes = std::string{};

    CommandWriter{bytes}.subscribe(
        1, {.id = 0, .stream = "s", .start = {.at = StreamStart::At::Next}, .credit = 1});

    EXPECT_EQ(bytes.substr(8), "\0\0\0\x01\0\0\x01s\0\x03\0\x01\0\0\0\0"sv);
}

TEST(Commands, CommandsStandBehindOneAnother) {
    auto bytes = std::string{};
    auto writer = CommandWriter{bytes};

    writer.credit(5, 300);
    writer.heartbeat();
    writer.unsubscribe(9, 5);
    writer.close_response(2);

    EXPECT_EQ(bytes,
              "\0\0\0\x07\0\x09\0\x01\x05\x01\x2C"
              "\0\0\0\x04\0\x17\0\x01"
              "\0\0\0\x09\0\x0C\0\x01\0\0\0\x09\x05"
              "\0\0\0\x0A\x80\x16\0\x01\0\0\0\x02\0\x01"sv);
}

TEST(Commands, AFrameSaysWhetherItIsAnAnswer) {
    auto response = read_frame("\x80\x07\0\x01\0\0\0\x05\0\x02"sv);
    auto command = read_frame("\0\x17\0\x01"sv);
    auto newer = read_frame("\0\x08\0\x02"sv);

    ASSERT_TRUE(response && command);
    EXPECT_EQ(response->key, Key::Subscribe);
    EXPECT_TRUE(response->is_response);
    auto content = read_response(response->content);
    ASSERT_TRUE(content);
    EXPECT_EQ(content->correlation, 5);
    EXPECT_EQ(content->code, ResponseCode::StreamDoesNotExist);
    EXPECT_FALSE(command->is_response);
    EXPECT_FALSE(newer);
}

TEST(Commands, MetadataSaysWhereAStreamLies) {
    auto places = read_metadata(
        "\0\0\0\x05" // Correlation.
        "\0\0\0\x02\0\0\0\x01"
        "a"
        "\0\0\x15\xB0" // Node 0.
        "\0\x01\0\x01"
        "b"
        "\0\0\x15\xB1" // Node 1.
        "\0\0\0\x01\0\x02s1\0\x01\0\x01\0\0\0\x02\0\0\0\x09"sv);

    ASSERT_TRUE(places) << places.error().message;
    EXPECT_EQ(places->code, ResponseCode::Ok);
    EXPECT_EQ(places->leader, (Node{.host = "b", .port = 5553}));
    EXPECT_THAT(places->replicas, ElementsAre(Node{.host = "a", .port = 5552}))
        << "one that is not known is left out";
}

TEST(Commands, WhatIsMissingHasNoLeader) {
    auto places = read_metadata("\0\0\0\x05\0\0\0\0\0\0\0\x01\0\x04nope\0\x02\xFF\xFF\0\0\0\0"sv);

    ASSERT_TRUE(places);
    EXPECT_EQ(places->code, ResponseCode::StreamDoesNotExist);
    EXPECT_EQ(places->leader, std::nullopt);
}

TEST(Commands, ReadsWhatABrokerSaysUnasked) {
    auto update = read_metadata_update("\0\x06\0\x02s1"sv);
    auto close = read_close(
        "\0\0\0\x09\0\x01\0\x03"
        "bye"sv);
    auto delivery = read_delivery(
        "\x07"
        "chunk"sv);
    auto properties = read_properties(
        "\0\0\0\x01\0\x01"
        "a"
        "\0\x01"
        "b"sv);

    ASSERT_TRUE(update && close && delivery && properties);
    EXPECT_EQ(update->stream, "s1");
    EXPECT_EQ(update->code, ResponseCode::StreamNotAvailable);
    EXPECT_EQ(close->reason, "bye");
    EXPECT_EQ(delivery->subscription, 7);
    EXPECT_EQ(delivery->chunk, "chunk");
    EXPECT_THAT(*properties, ElementsAre(Pair("a", "b")));
}

TEST(Commands, RefusesWhatIsCutShort) {
    EXPECT_FALSE(read_frame("\0\x07\0"sv));
    EXPECT_FALSE(read_response("\0\0\0\x05\0"sv));
    EXPECT_FALSE(
        read_properties("\xFF\xFF\xFF\xFF\0\x01"
                        "a"sv));
    EXPECT_FALSE(
        read_metadata("\0\0\0\x05\0\0\0\x01\0\0\0\x09"
                      "a"sv));
    EXPECT_FALSE(read_delivery(""sv));
}

} // namespace

} // namespace sluice::connector::amqp::internal::stream
