#include "trigger/internal/packed_record.h"

#include <optional>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "event/builder.h"
#include "trigger/history.h"
#include "trigger/testing/packed_text.h"

namespace sluice::trigger::internal {
namespace {

using Kind = event::FrameUnpacker::Kind;

std::string record_of(std::uint64_t events) {
    auto journal = Journal{};
    for (auto at = std::uint64_t{1}; at <= events; ++at) {
        auto event = event::Builder{std::to_string(at), "s", "item"}.run("r").build();
        journal.begin(EventNumber{at}, {.event = event}, event.json());
        journal.add(Activated{.scope = root_scope, .trigger = TriggerNumber{0}, .progress = at});
        journal.end(Fate::Activated);
    }
    return std::string{journal.record({})};
}

TEST(PackedRecord, ManyEventsShrinkAndAreReadAsTheyWere) {
    auto record = record_of(1000);
    auto room = std::string{};

    auto stored = pack(record, room);

    EXPECT_TRUE(is_packed(stored));
    EXPECT_LT(stored.size(), record.size() / 3);
    EXPECT_EQ(unpack(stored).value(), record);
    auto entries = decode_record(stored);
    ASSERT_TRUE(entries) << entries.error().message;
    EXPECT_EQ(entries->size(), 1000U);
    EXPECT_EQ(entries->back().number, EventNumber{1000});
}

TEST(PackedRecord, FewEventsStayAsTheyAre) {
    auto record = record_of(3);
    auto room = std::string{};

    auto stored = pack(record, room);

    EXPECT_FALSE(is_packed(stored));
    EXPECT_EQ(stored, record);
}

TEST(PackedRecord, WhatDoesNotShrinkStaysAsItIs) {
    auto record = std::string{"\3"};
    for (auto state = std::uint32_t{1}; record.size() < 5000;) {
        state = state * 1664525U + 1013904223U;
        record += static_cast<char>(state >> 24U);
    }
    auto room = std::string{};

    EXPECT_EQ(pack(record, room), record);
}

TEST(PackedRecord, AShorterOneBehindALongerOneIsItsOwn) {
    auto room = std::string{};
    static_cast<void>(pack(record_of(1000), room));
    auto record = record_of(50);

    EXPECT_EQ(unpack(pack(record, room)).value(), record);
}

TEST(PackedRecord, DamageIsNamed) {
    auto room = std::string{};
    auto stored = std::string{pack(record_of(1000), room)};

    auto cut = unpack(std::string_view{stored}.substr(0, stored.size() / 2));
    auto boastful = unpack(std::string{"\4\xFF\xFF\xFF\xFF\x0F", 6} + "few bytes");

    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().code, Errc::Corrupt);
    ASSERT_FALSE(boastful);
    EXPECT_EQ(boastful.error().code, Errc::Corrupt);
}

TEST(PackedRecord, TextsStandBeforeARecordAsTheyCame) {
    auto bytes = std::make_shared<const std::string>(std::string(5000, 'a') + std::string(50, 'b'));
    auto stored = std::string{};
    put_texts({testing::packed_text(bytes, 5000), testing::packed_text(bytes, bytes->size())},
              stored);
    stored += "record";

    auto left = std::string_view{stored};
    EXPECT_EQ(take_texts(left).value(), std::string(5000, 'a') + *bytes);
    EXPECT_EQ(left, "record");
}

TEST(PackedRecord, FramesOfATextMayBeOfAnyKind) {
    auto bytes = std::make_shared<const std::string>(record_of(100));
    auto lz4 = testing::packed_text(bytes, bytes->size(), 0, 2000, Kind::Lz4);
    auto zstd = testing::packed_text(bytes, bytes->size(), 0, 3000, Kind::Zstd);
    auto mixed = *lz4;
    mixed.size *= 2;
    mixed.frames.insert(mixed.frames.end(), zstd->frames.begin(), zstd->frames.end());
    auto stored = std::string{};
    put_texts({zstd, std::make_shared<const event::PackedText>(mixed)}, stored);

    auto left = std::string_view{stored};
    EXPECT_EQ(take_texts(left).value(), *bytes + *bytes + *bytes);
    EXPECT_EQ(left, "");
}

TEST(PackedRecord, ARecordWithoutTextsStaysWhole) {
    auto stored = std::string{};
    put_texts({}, stored);
    EXPECT_EQ(stored, "");

    auto left = std::string_view{"\3record"};
    EXPECT_EQ(take_texts(left).value(), "");
    EXPECT_EQ(left, "\3record");
}

class DamagedTexts : public ::testing::TestWithParam<Kind> {};

TEST_P(DamagedTexts, AreNamed) {
    auto stored = std::string{};
    auto bytes = std::make_shared<const std::string>(record_of(100));
    put_texts({testing::packed_text(bytes, bytes->size(), 0, 1000, GetParam())}, stored);

    auto fault_of = [](std::string changed) {
        auto left = std::string_view{changed};
        auto texts = take_texts(left);
        return texts ? std::nullopt : std::optional{texts.error().code};
    };
    auto with = [&](std::size_t at, char byte) {
        auto changed = stored;
        changed[at] = byte;
        return changed;
    };
    EXPECT_EQ(fault_of(stored), std::nullopt);
    EXPECT_EQ(fault_of(stored.substr(0, stored.size() / 2)), Errc::Corrupt) << "cut off";
    EXPECT_EQ(fault_of(with(2, static_cast<char>(stored[2] + 1))), Errc::Corrupt)
        << "one byte more";
    EXPECT_EQ(fault_of(with(2, static_cast<char>(stored[2] - 1))), Errc::Corrupt)
        << "one byte less";
    EXPECT_EQ(fault_of(with(6, 'x')), Errc::Corrupt) << "no frame";
    EXPECT_EQ(fault_of(std::string{"\5\1\xFF\xFF\xFF\xFF\x0F\1x", 9}), Errc::Corrupt) << "boastful";
}

INSTANTIATE_TEST_SUITE_P(Kinds, DamagedTexts, ::testing::Values(Kind::Lz4, Kind::Zstd));

RC_GTEST_PROP(PackedRecord, AnyTextComesBack, (const std::vector<std::string>& words)) {
    auto record = std::string{"\3"};
    while (!words.empty() && record.size() < 3000) {
        record += *rc::gen::elementOf(words) + '.';
    }
    auto room = std::string{};
    auto stored = pack(record, room);

    auto back = is_packed(stored) ? unpack(stored).value() : std::string{stored};
    RC_ASSERT(back == record);
}

} // namespace
} // namespace sluice::trigger::internal
