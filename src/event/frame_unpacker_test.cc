#include "event/frame_unpacker.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "event/testing/frames.h"

namespace sluice::event {
namespace {

using Kind = FrameUnpacker::Kind;

constexpr auto bytes_max = std::size_t{8} << 20U;

std::string text_of(std::size_t words) {
    auto text = std::string{};
    for (auto at = std::size_t{0}; at < words; ++at) {
        text += "word " + std::to_string(at * 7919 % 1000) + ' ';
    }
    return text;
}

class Frames : public ::testing::TestWithParam<Kind> {
protected:
    std::string frame_of(std::string_view text) const {
        return testing::frame_of(GetParam(), text);
    }

    FrameUnpacker unpacker_;
};

TEST_P(Frames, ComeOneBehindTheOther) {
    auto large = text_of(100'000);
    auto bytes = frame_of("first") + frame_of(large) + frame_of("") + "rest";
    auto frames = std::string_view{bytes};
    auto buffer = std::string{"head"};
    auto used = std::size_t{4};

    for (auto at = 0; at < 3; ++at) {
        used = unpacker_.unpack(frames, buffer, used, bytes_max).value();
    }

    EXPECT_EQ(buffer.substr(0, used), "headfirst" + large);
    EXPECT_EQ(frames, "rest");
}

TEST_P(Frames, TakeRoomThatFitsExactly) {
    auto text = text_of(50'000);
    auto bytes = frame_of(text);
    auto frames = std::string_view{bytes};
    auto buffer = std::string(text.size(), '\0');

    EXPECT_EQ(unpacker_.unpack(frames, buffer, 0, text.size()).value(), text.size());
    EXPECT_EQ(buffer, text);
}

TEST_P(Frames, WhoseSizeIsNotToldAreUnpackedToo) {
    auto text = text_of(300'000);
    auto bytes = testing::streamed_frame_of(GetParam(), text);
    auto frames = std::string_view{bytes};
    auto buffer = std::string{};

    auto used = unpacker_.unpack(frames, buffer, 0, bytes_max);

    ASSERT_TRUE(used) << used.error().message;
    EXPECT_EQ(buffer.substr(0, *used), text);
}

TEST_P(Frames, ThatAreTooLargeAreRefused) {
    auto text = text_of(50'000);
    for (const auto& bytes : {frame_of(text), testing::streamed_frame_of(GetParam(), text)}) {
        auto frames = std::string_view{bytes};
        auto buffer = std::string{};

        auto used = unpacker_.unpack(frames, buffer, 0, text.size() - 1);

        ASSERT_FALSE(used);
        EXPECT_EQ(used.error().code, Errc::LimitExceeded);
        EXPECT_LT(buffer.size(), text.size());
    }
}

TEST_P(Frames, DamageIsToldAndLeavesTheNextOneWhole) {
    auto whole = frame_of(text_of(1000));
    auto buffer = std::string{};
    for (auto bytes : {whole.substr(0, whole.size() / 2), whole.substr(0, whole.size() - 1),
                       whole.substr(0, 4), whole.substr(0, 2), std::string{}}) {
        auto frames = std::string_view{bytes};
        auto used = unpacker_.unpack(frames, buffer, 0, bytes_max);
        ASSERT_FALSE(used) << bytes.size() << " bytes";
        EXPECT_EQ(used.error().code, Errc::Corrupt);
        EXPECT_EQ(frames, bytes);
    }
    auto frames = std::string_view{whole};

    auto used = unpacker_.unpack(frames, buffer, 0, bytes_max);

    EXPECT_EQ(buffer.substr(0, used.value()), text_of(1000));
}

INSTANTIATE_TEST_SUITE_P(Kinds, Frames, ::testing::Values(Kind::Lz4, Kind::Zstd));

TEST(FrameUnpacker, TellsKindsApart) {
    EXPECT_EQ(FrameUnpacker::kind_of(testing::frame_of(Kind::Lz4, "a")), Kind::Lz4);
    EXPECT_EQ(FrameUnpacker::kind_of(testing::frame_of(Kind::Zstd, "a")), Kind::Zstd);
    EXPECT_EQ(FrameUnpacker::kind_of("{}"), Kind::Unknown);
    EXPECT_EQ(FrameUnpacker::kind_of(""), Kind::Unknown);
}

RC_GTEST_PROP(FrameUnpacker, WhateverCameFirstIsFollowedByTheRest, (const std::string& text)) {
    auto kind = *rc::gen::element(Kind::Lz4, Kind::Zstd);
    auto bytes = testing::frame_of(kind, text) + "rest";
    auto frames = std::string_view{bytes};
    auto buffer = std::string{};

    auto used = FrameUnpacker{}.unpack(frames, buffer, 0, bytes_max).value();

    RC_ASSERT(buffer.substr(0, used) == text);
    RC_ASSERT(frames == "rest");
}

} // namespace
} // namespace sluice::event
