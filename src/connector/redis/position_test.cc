#include "connector/redis/position.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::connector::redis {
namespace {

TEST(Position, RisesWithTheId) {
    EXPECT_EQ(*position_of("0-1"), 1);
    EXPECT_EQ(*position_of("1-0"), 1ULL << 20U);
    EXPECT_EQ(*position_of("1526919030474-55"), (1526919030474ULL << 20U) + 55);
    EXPECT_LT(*position_of("5-1048575"), *position_of("6-0"));
    for (const auto* id : {"0-1", "1-0", "1526919030474-55", "17592186044415-1048575"}) {
        EXPECT_EQ(id_of(*position_of(id)), id);
    }
}

TEST(Position, RefusesWhatDoesNotFitByName) {
    for (const auto* id : {"17592186044416-0", "1-1048576", "0-0", "18446744073709551615-0"}) {
        auto position = position_of(id);
        ASSERT_FALSE(position) << id;
        EXPECT_EQ(position.error().code, Errc::Unsupported);
        EXPECT_THAT(position.error().message, ::testing::HasSubstr(id));
    }
    for (const auto* id :
         {"", "-", "1", "1-", "-1", "a-b", "1-2x", "1--2", "99999999999999999999-1"}) {
        EXPECT_EQ(position_of(id).error().code, Errc::InvalidInput) << id;
    }
}

} // namespace
} // namespace sluice::connector::redis
