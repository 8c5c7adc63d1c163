#include "base/rate_limit.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RateLimit, LetsABurstThroughAndThenOneEachInterval) {
    auto limit = RateLimit{{.per_second = 10, .burst = 3}};
    auto now = Nanos{seconds{1}};

    EXPECT_EQ(limit.take(now), Nanos{0});
    EXPECT_EQ(limit.take(now, 2), Nanos{0});
    EXPECT_EQ(limit.wait(now), milliseconds{100});
    EXPECT_EQ(limit.take(now), milliseconds{100});
    EXPECT_EQ(limit.take(now + milliseconds{60}), milliseconds{40});
    EXPECT_EQ(limit.take(now + milliseconds{100}), Nanos{0});
    EXPECT_EQ(limit.take(now + milliseconds{100}), milliseconds{100});
}

TEST(RateLimit, HasABurstOfASecondUnlessToldOtherwise) {
    auto limit = RateLimit{{.per_second = 5}};
    auto slow = RateLimit{{.per_second = 0.5}};

    EXPECT_EQ(limit.take(seconds{1}, 5), Nanos{0});
    EXPECT_GT(limit.take(seconds{1}), Nanos{0});
    EXPECT_EQ(slow.take(seconds{9}), Nanos{0});
    EXPECT_EQ(slow.take(seconds{9}), seconds{2});
}

TEST(RateLimit, MoreThanABurstIsPaidForAfterwards) {
    auto limit = RateLimit{{.per_second = 10, .burst = 1}};

    EXPECT_EQ(limit.take(seconds{1}, 20), Nanos{0});
    EXPECT_EQ(limit.take(seconds{1}, 1), Nanos{seconds{2}});
    EXPECT_FALSE(limit.is_full(seconds{2}));
    EXPECT_TRUE(limit.is_full(seconds{3}));
}

TEST(RateLimit, WithoutARateAnythingGoes) {
    EXPECT_EQ(RateLimit{}.take(seconds{1}, 1'000'000'000), Nanos{0});
}

} // namespace
} // namespace sluice
