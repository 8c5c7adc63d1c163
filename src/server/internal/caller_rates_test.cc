#include "server/internal/caller_rates.h"

#include <gtest/gtest.h>

namespace sluice::server {
namespace {

TEST(CallerRatesTest, HoldEachCallerToTheRate) {
    auto rates = CallerRates{{.per_second = 1, .burst = 1}};
    auto now = Nanos{std::chrono::seconds{5}};

    EXPECT_EQ(rates.take("a", now), Nanos{0});
    EXPECT_EQ(rates.take("a", now), std::chrono::seconds{1});
    EXPECT_EQ(rates.take("b", now), Nanos{0});
    EXPECT_EQ(rates.take("a", now + std::chrono::seconds{1}), Nanos{0});
}

TEST(CallerRatesTest, KeepNoMoreCallersThanTheirBound) {
    auto rates = CallerRates{{.per_second = 1, .burst = 1}};
    auto now = Nanos{std::chrono::seconds{5}};
    for (auto number = std::size_t{0}; number < CallerRates::callers_max; ++number) {
        EXPECT_EQ(rates.take(std::to_string(number), now), Nanos{0});
    }

    EXPECT_EQ(rates.take("one more", now), Nanos{0});
    EXPECT_GT(rates.take("and another", now), Nanos{0});
    EXPECT_EQ(rates.take("later", now + std::chrono::seconds{2}), Nanos{0});
    EXPECT_EQ(rates.take("and later", now + std::chrono::seconds{2}), Nanos{0});
}

} // namespace
} // namespace sluice::server
