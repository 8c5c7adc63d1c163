#include "value/binary.h"

#include <bit>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "value/testing/arbitrary.h"

namespace sluice::value {

namespace {

using namespace std::string_view_literals;

std::string encoded(const Value& value) {
    auto out = std::string{};
    auto encoder = Encoder{out};
    encode(value, encoder);
    return out;
}

Result<Value> decoded(std::string_view bytes) {
    auto in = Decoder{bytes};
    auto value = TRY(decode(in));
    if (!in.is_at_end()) {
        return fail(Errc::Corrupt, "{} bytes left", in.rest().size());
    }
    return value;
}

} // namespace

// Stored data has these bytes: what fails here is a format that must not have changed.
TEST(Binary, EveryKindKeepsItsBytes) {
    EXPECT_EQ(encoded({}), "\x00"sv);
    EXPECT_EQ(encoded(false), "\x01"sv);
    EXPECT_EQ(encoded(true), "\x02"sv);
    EXPECT_EQ(encoded(-3), "\x03\x05"sv);
    EXPECT_EQ(encoded(std::uint64_t{300}), "\x04\xAC\x02"sv);
    EXPECT_EQ(encoded(1.5), "\x05\x3F\xF8\0\0\0\0\0\0"sv);
    EXPECT_EQ(encoded("hi"), "\x06\x02hi"sv);
    EXPECT_EQ(encoded(Value::bytes("\xFF")), "\x07\x01\xFF"sv);
    EXPECT_EQ(encoded(Value::list({1, true})), "\x08\x02\x03\x02\x02"sv);
    EXPECT_EQ(encoded(Value::object({{"k", {}}})), "\x09\x01\x01k\x00"sv);
    EXPECT_EQ(encoded(Time{Nanos{1}}), "\x0A\x80\0\0\0\0\0\0\x01"sv);
    EXPECT_EQ(encoded(Nanos{-1}), "\x0B\x01"sv);
}

// The example of docs/formats/encoding.md.
TEST(Binary, TheDocumentedExampleHolds) {
    auto value =
        Value::object({{"id", "order-7"}, {"tries", 2}, {"parts", Value::list({1.5, {}})}});

    EXPECT_EQ(encoded(value),
              "\x09\x03"
              "\x02"
              "id"
              "\x06\x07"
              "order-7"
              "\x05"
              "tries"
              "\x03\x04"
              "\x05"
              "parts"
              "\x08\x02"
              "\x05\x3F\xF8\0\0\0\0\0\0"
              "\x00"sv);
}

TEST(Binary, KeepsTheOrderOfMembers) {
    auto value = Value::object({{"b", 1}, {"a", 2}});

    auto again = decoded(encoded(value));

    ASSERT_TRUE(again);
    EXPECT_EQ(again->as_map()[0].key, "b");
}

TEST(Binary, KeepsTheBitsOfDoubles) {
    for (auto bits : {0x8000000000000000ULL, 0x7FF8000000000001ULL, 0x7FF0000000000000ULL, 1ULL}) {
        auto again = decoded(encoded(std::bit_cast<double>(bits)));

        ASSERT_TRUE(again);
        EXPECT_EQ(std::bit_cast<std::uint64_t>(again->as_double()), bits);
    }
}

TEST(Binary, LeavesWhatComesBehind) {
    auto bytes = encoded("first") + encoded(2);
    auto in = Decoder{bytes};

    EXPECT_EQ(decode(in), Value{"first"});
    EXPECT_EQ(decode(in), Value{2});
    EXPECT_TRUE(in.is_at_end());
}

TEST(Binary, RefusesWhatIsNeverWritten) {
    for (auto bytes :
         {""sv, "\x0C"sv, "\xFF"sv, "\x03"sv, "\x03\x80\x00"sv, "\x05\x3F\xF8"sv, "\x06\x05hi"sv,
          "\x08\x02\x00"sv, "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"sv, "\x09\x01\x00"sv,
          "\x09\x01\x01k"sv, "\x0A\x80"sv, "\x08\x01\x0C"sv}) {
        auto value = decoded(bytes);

        ASSERT_FALSE(value) << ::testing::PrintToString(bytes);
        EXPECT_EQ(value.error().code, Errc::Corrupt);
    }
}

TEST(Binary, RefusesRepeatedKeys) {
    auto value = decoded("\x09\x02\x01k\x01\x01k\x02"sv);

    ASSERT_FALSE(value);
    EXPECT_EQ(value.error().message, "a map of 2 members has 1 different keys");
}

TEST(Binary, AnnouncedCountsCostNoMemory) {
    // Each level announces as many items as bytes are left, and has but one.
    auto bytes = std::string{};
    for (auto level = 0; level < 20'000; ++level) {
        bytes += "\x08\x80\x80\x01"sv;
    }

    auto value = decoded(bytes);

    ASSERT_FALSE(value);
    EXPECT_EQ(value.error().code, Errc::Corrupt);
}

TEST(Binary, BearsAnyDepth) {
    auto value = testing::nested_lists(100'000);

    auto again = decoded(encoded(value));

    ASSERT_TRUE(again);
    EXPECT_TRUE(*again == value);
}

RC_GTEST_PROP(Binary, WhatIsWrittenIsReadBack, ()) {
    auto value = *testing::arbitrary_value();
    auto bytes = encoded(value);

    auto again = decoded(bytes);

    RC_ASSERT(again.has_value());
    RC_ASSERT(again.value() == value);
    RC_ASSERT(encoded(*again) == bytes);
}

RC_GTEST_PROP(Binary, WhatIsCutShortIsRefused, ()) {
    auto bytes = encoded(*testing::arbitrary_value());
    auto length = *rc::gen::inRange<std::size_t>(0, bytes.size());

    auto value = decoded(std::string_view{bytes}.substr(0, length));

    RC_ASSERT(!value.has_value());
    RC_ASSERT(value.error().code == Errc::Corrupt);
}

} // namespace sluice::value
