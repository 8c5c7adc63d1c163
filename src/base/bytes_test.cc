#include "base/bytes.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice {

namespace {

using namespace std::string_view_literals;

template <typename Write>
std::string written(Write write) {
    auto out = std::string{};
    auto encoder = Encoder{out};
    write(encoder);
    return out;
}

std::string varint_of(std::uint64_t number) {
    return written([number](auto& out) { out.varint(number); });
}

std::string svarint_of(std::int64_t number) {
    return written([number](auto& out) { out.svarint(number); });
}

std::string i64_of(std::int64_t number) {
    return written([number](auto& out) { out.i64(number); });
}

} // namespace

TEST(Bytes, FixedNumbersAreBigEndian) {
    auto bytes = written([](auto& out) {
        out.u8(0x01);
        out.u16(0x0203);
        out.u32(0x04050607);
        out.u64(0x08090A0B0C0D0E0FULL);
    });

    EXPECT_EQ(bytes, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B\x0C\x0D\x0E\x0F"sv);
}

TEST(Bytes, SignedNumbersHaveTheirSignBitFlipped) {
    EXPECT_EQ(i64_of(0), "\x80\0\0\0\0\0\0\0"sv);
    EXPECT_EQ(i64_of(-1), "\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF"sv);
    EXPECT_EQ(i64_of(std::numeric_limits<std::int64_t>::min()), "\0\0\0\0\0\0\0\0"sv);
}

TEST(Bytes, VarintsAreLeb128) {
    EXPECT_EQ(varint_of(0), "\0"sv);
    EXPECT_EQ(varint_of(127), "\x7F"sv);
    EXPECT_EQ(varint_of(128), "\x80\x01"sv);
    EXPECT_EQ(varint_of(300), "\xAC\x02"sv);
    EXPECT_EQ(varint_of(std::numeric_limits<std::uint64_t>::max()),
              "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"sv);
}

TEST(Bytes, SignedVarintsZigzag) {
    EXPECT_EQ(svarint_of(0), "\0"sv);
    EXPECT_EQ(svarint_of(-1), "\x01"sv);
    EXPECT_EQ(svarint_of(1), "\x02"sv);
    EXPECT_EQ(svarint_of(-2), "\x03"sv);
    EXPECT_EQ(svarint_of(std::numeric_limits<std::int64_t>::min()),
              "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"sv);
}

TEST(Bytes, TextsCarryTheirLength) {
    EXPECT_EQ(written([](auto& out) { out.text("abc"); }),
              "\x03"
              "abc"sv);
    EXPECT_EQ(written([](auto& out) { out.text(""); }), "\0"sv);
    EXPECT_EQ(written([](auto& out) { out.raw("abc"); }), "abc");
}

TEST(Bytes, AnEncoderAppends) {
    auto out = std::string{"before"};

    Encoder{out}.u8('!');

    EXPECT_EQ(out, "before!");
}

TEST(Bytes, EveryReadPastTheEndFailsAndStaysWhereItWas) {
    auto in = Decoder{
        "\x05"
        "ab"sv};

    EXPECT_EQ(in.u32().error().code, Errc::Corrupt);
    EXPECT_EQ(in.u64().error().code, Errc::Corrupt);
    EXPECT_EQ(in.i64().error().code, Errc::Corrupt);
    EXPECT_EQ(in.text().error().message, "a text of 5 bytes is cut short at 2");
    EXPECT_EQ(in.raw(4).error().message, "4 bytes expected, 3 left");

    EXPECT_EQ(in.rest().size(), 3);
    EXPECT_EQ(in.u8(), 5);
    EXPECT_EQ(in.u16(), 0x6162);
    EXPECT_TRUE(in.is_at_end());
    EXPECT_EQ(in.u8().error().code, Errc::Corrupt);
}

TEST(Bytes, ATextMayNotClaimMoreThanThereIs) {
    auto bytes = varint_of(std::numeric_limits<std::uint64_t>::max()) + "abc";

    EXPECT_EQ(Decoder{bytes}.text().error().code, Errc::Corrupt);
}

TEST(Bytes, AVarintIsReadInItsShortestFormAlone) {
    for (auto bytes : {""sv, "\x80"sv, "\xFF\xFF"sv, "\x80\x00"sv, "\xFF\x80\x00"sv,
                       "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"sv,
                       "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x81\x00"sv}) {
        auto in = Decoder{bytes};

        EXPECT_EQ(in.varint().error().code, Errc::Corrupt) << ::testing::PrintToString(bytes);
        EXPECT_EQ(in.svarint().error().code, Errc::Corrupt) << ::testing::PrintToString(bytes);
        EXPECT_EQ(in.rest(), bytes);
    }
}

RC_GTEST_PROP(Bytes, WhatIsWrittenIsReadBack, (std::uint64_t bits, std::string text)) {
    // Shifted, so that every length of varint occurs.
    auto number = bits >> (text.size() % 64);
    auto bytes = written([&](auto& out) {
        out.u8(static_cast<std::uint8_t>(number));
        out.u16(static_cast<std::uint16_t>(number));
        out.u32(static_cast<std::uint32_t>(number));
        out.u64(number);
        out.i64(static_cast<std::int64_t>(number));
        out.varint(number);
        out.svarint(static_cast<std::int64_t>(number));
        out.svarint(-static_cast<std::int64_t>(number >> 1U));
        out.text(text);
        out.raw(text);
    });
    auto in = Decoder{bytes};

    RC_ASSERT(in.u8().value() == static_cast<std::uint8_t>(number));
    RC_ASSERT(in.u16().value() == static_cast<std::uint16_t>(number));
    RC_ASSERT(in.u32().value() == static_cast<std::uint32_t>(number));
    RC_ASSERT(in.u64().value() == number);
    RC_ASSERT(in.i64().value() == static_cast<std::int64_t>(number));
    RC_ASSERT(in.varint().value() == number);
    RC_ASSERT(in.svarint().value() == static_cast<std::int64_t>(number));
    RC_ASSERT(in.svarint().value() == -static_cast<std::int64_t>(number >> 1U));
    RC_ASSERT(in.text().value() == text);
    RC_ASSERT(in.raw(text.size()).value() == text);
    RC_ASSERT(in.is_at_end());
}

RC_GTEST_PROP(Bytes, FixedNumbersSortAsTheirBytesDo, (std::int64_t left, std::int64_t right)) {
    RC_ASSERT((left < right) == (i64_of(left) < i64_of(right)));
}

} // namespace sluice
