#include "connector/amqp/internal/stream/frame_buffer.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/random.h"

namespace sluice::connector::amqp::internal::stream {

namespace {

std::string framed(std::string_view content) {
    auto bytes = std::string{};
    auto out = Encoder{bytes};
    out.u32(static_cast<std::uint32_t>(content.size()));
    out.raw(content);
    return bytes;
}

/// Brings as much as there is room for, at most so many bytes.
void bring(FrameBuffer& buffer, std::string_view& bytes, std::size_t size_max) {
    auto room = buffer.room();
    auto part = bytes.substr(0, std::min(room.size(), size_max));
    std::ranges::copy(part, room.begin());
    buffer.add(part.size());
    bytes.remove_prefix(part.size());
}

TEST(FrameBuffer, GivesAFrameOnceAllOfItIsThere) {
    auto buffer = FrameBuffer{};
    auto bytes = framed("hello") + framed("");
    auto rest = std::string_view{bytes};

    for (auto at = 0; at < 8; ++at) {
        bring(buffer, rest, 1);
        EXPECT_EQ(buffer.frame(), std::nullopt);
    }
    bring(buffer, rest, 100);

    EXPECT_EQ(buffer.frame(), "hello");
    EXPECT_EQ(buffer.frame(), "hello") << "until it is dropped";
    buffer.drop();
    EXPECT_EQ(buffer.frame(), "");
    buffer.drop();
    EXPECT_EQ(buffer.frame(), std::nullopt);
}

TEST(FrameBuffer, FramesOfAnySizeComeWhole) {
    auto seed = std::uint64_t{20260711};
    SCOPED_TRACE(seed);
    auto random = Random{seed};
    auto contents = std::vector<std::string>{};
    auto bytes = std::string{};
    for (auto at = 0; at < 200; ++at) {
        auto size = random.below(at % 20 == 0 ? 2'000'000 : 20'000);
        contents.emplace_back(size, static_cast<char>('a' + at % 26));
        bytes += framed(contents.back());
    }

    auto buffer = FrameBuffer{};
    auto rest = std::string_view{bytes};
    auto taken = std::size_t{0};
    while (taken < contents.size()) {
        auto frame = buffer.frame();
        ASSERT_TRUE(frame);
        if (*frame) {
            ASSERT_EQ(**frame, contents[taken]);
            buffer.drop();
            ++taken;
        } else {
            ASSERT_FALSE(rest.empty());
            bring(buffer, rest, 1 + random.below(300'000));
        }
    }

    EXPECT_TRUE(rest.empty());
}

TEST(FrameBuffer, RefusesAFrameThatIsTooLarge) {
    auto buffer = FrameBuffer{};
    auto bytes = std::string(100, '\x7F');
    auto rest = std::string_view{bytes};

    bring(buffer, rest, 100);

    ASSERT_FALSE(buffer.frame());
    EXPECT_EQ(buffer.frame().error().code, Errc::Corrupt);
}

} // namespace

} // namespace sluice::connector::amqp::internal::stream
