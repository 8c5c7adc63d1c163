#include "store/embedded/internal/free_space.h"

#include <limits>

#include <gtest/gtest.h>

namespace sluice::store::embedded {
namespace {

class StandingClock final : public Clock {
public:
    Time wall() const override { return {}; }
    Nanos steady() const override { return now; }
    Nanos now{0};
};

class FreeSpaceTest : public ::testing::Test {
protected:
    StandingClock clock;
    std::uint64_t free_bytes = 101;
    int looks = 0;
    FreeSpace space{[this] {
                        ++looks;
                        return free_bytes;
                    },
                    100, clock};
};

TEST_F(FreeSpaceTest, LooksAgainAfterAWhile) {
    EXPECT_TRUE(space.is_enough());
    free_bytes = 100;
    EXPECT_TRUE(space.is_enough());
    EXPECT_EQ(looks, 1);

    clock.now = std::chrono::milliseconds{100};

    EXPECT_FALSE(space.is_enough());
    EXPECT_EQ(looks, 2);
}

TEST_F(FreeSpaceTest, LooksAgainAfterMuchWasWritten) {
    free_bytes = 0;
    space.note_written(16U << 20U);

    EXPECT_FALSE(space.is_enough());
}

TEST(FreeSpace, AsksTheSystem) {
    EXPECT_GT(free_bytes_at("/"), 0);
    EXPECT_EQ(free_bytes_at("/no such place"), std::numeric_limits<std::uint64_t>::max());
    EXPECT_LE(default_reserve_at("/"), 256U << 20U);
    EXPECT_GT(default_reserve_at("/"), 0);
}

} // namespace
} // namespace sluice::store::embedded
