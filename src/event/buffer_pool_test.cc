#include "event/buffer_pool.h"

#include <gtest/gtest.h>

namespace sluice::event {
namespace {

TEST(BufferPool, WhatNobodyHoldsIsUsedAgain) {
    auto pool = BufferPool{};
    auto buffer = pool.take();
    EXPECT_TRUE(buffer.empty());
    buffer.assign(10'000, 'x');
    const auto* place = buffer.data();
    auto lent = pool.lend(std::move(buffer));
    auto second_owner = lent;

    lent.reset();
    EXPECT_TRUE(pool.take().empty()) << "somebody holds it";
    second_owner.reset();

    auto again = pool.take();
    EXPECT_EQ(again.data(), place);
    EXPECT_EQ(again.size(), 10'000U) << "with whatever lies in it";
}

TEST(BufferPool, KeepsNoMoreThanIsUseful) {
    auto pool = BufferPool{};

    pool.lend(std::string(std::size_t{64} << 20U, 'x')).reset();

    EXPECT_TRUE(pool.take().empty());
}

TEST(BufferPool, WhatIsLentOutlivesIt) {
    auto lent = std::shared_ptr<const std::string>{};
    {
        auto pool = BufferPool{};
        lent = pool.lend("bytes");
    }

    EXPECT_EQ(*lent, "bytes");
}

} // namespace
} // namespace sluice::event
