#include "connector/kafka/internal/fetch_protocol.h"

#include <array>

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace sluice::connector::kafka::internal {
namespace {

std::string answer_of_one(std::string_view batches) {
    auto bytes = std::string{};
    auto out = Encoder{bytes};
    out.u32(0);
    out.u32(0);
    out.u32(1);
    out.u16(6);
    out.raw("orders");
    out.u32(1);
    out.u32(3);
    out.u16(6); // Not the leader.
    out.u64(100);
    out.u64(90);
    out.u32(1);
    out.u64(11);
    out.u64(50);
    out.u32(static_cast<std::uint32_t>(batches.size()));
    out.raw(batches);
    return bytes;
}

TEST(FetchProtocol, ARequestIsWhatTheProtocolSays) {
    auto wanted = std::array{Wanted{.topic = "t", .partition = 2, .offset = 258}};

    auto request = fetch_request(
        wanted,
        {.wait = std::chrono::milliseconds{100}, .bytes_max = 512, .partition_bytes_max = 256});

    auto expected = std::string_view{
        "\0\0\0\x3C"
        "\0\1"
        "\0\4"
        "\0\0\0\0"
        "\0\6sluice"
        "\xFF\xFF\xFF\xFF"
        "\0\0\0\x64"
        "\0\0\0\1"
        "\0\0\2\0"
        "\1"
        "\0\0\0\1"
        "\0\1t"
        "\0\0\0\1"
        "\0\0\0\2"
        "\0\0\0\0\0\0\1\2"
        "\0\0\1\0",
        64};
    EXPECT_EQ(request, expected);
}

TEST(FetchProtocol, AnAnswerIsTakenApart) {
    auto bytes = answer_of_one("batches");

    auto parts = *read_fetch_answer(bytes);

    ASSERT_EQ(parts.size(), 1U);
    EXPECT_EQ(parts[0].topic, "orders");
    EXPECT_EQ(parts[0].partition, 3);
    EXPECT_EQ(parts[0].error, 6);
    EXPECT_EQ(parts[0].end, 100);
    ASSERT_EQ(parts[0].aborted.size(), 1U);
    EXPECT_EQ(parts[0].aborted[0].producer, 11);
    EXPECT_EQ(parts[0].aborted[0].first_offset, 50);
    EXPECT_EQ(parts[0].batches, "batches");
}

TEST(FetchProtocol, AnAnswerThatEndsTooSoonIsCorrupt) {
    auto bytes = answer_of_one("batches");
    for (auto size = std::size_t{0}; size < bytes.size(); ++size) {
        auto parts = read_fetch_answer(std::string_view{bytes}.substr(0, size));
        ASSERT_FALSE(parts.has_value()) << size;
        EXPECT_EQ(parts.error().code, Errc::Corrupt);
    }
}

TEST(FetchProtocol, OfABrokersVersionsOursIsLookedFor) {
    auto versions = [](std::uint16_t low, std::uint16_t high) {
        auto bytes = std::string{};
        auto out = Encoder{bytes};
        out.u32(0);
        out.u16(0);
        out.u32(2);
        for (auto number : std::array<std::uint16_t, 6>{0, 0, 9, 1, low, high}) {
            out.u16(number);
        }
        return bytes;
    };

    EXPECT_TRUE(*takes_our_fetch(versions(0, 11)));
    EXPECT_TRUE(*takes_our_fetch(versions(4, 17)));
    EXPECT_FALSE(*takes_our_fetch(versions(0, 3)));
    EXPECT_FALSE(*takes_our_fetch(versions(5, 20)));
    EXPECT_FALSE(takes_our_fetch("x").has_value());
}

} // namespace
} // namespace sluice::connector::kafka::internal
