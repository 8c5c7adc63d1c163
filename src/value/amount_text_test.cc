#include "value/amount_text.h"

#include <gtest/gtest.h>

namespace sluice::value {
namespace {

TEST(AmountText, ReadsRates) {
    EXPECT_EQ(*parse_rate("100/s"), 100.0);
    EXPECT_EQ(*parse_rate("90/m"), 1.5);
    EXPECT_EQ(*parse_rate("0.5/s"), 0.5);
    EXPECT_EQ(*parse_rate(7), 7.0);
    EXPECT_EQ(*parse_rate("1/d"), 1.0 / 86'400);
}

TEST(AmountText, RefusesWhatIsNoRate) {
    for (const auto& written :
         {Value{"100"}, Value{"x/s"}, Value{"100/year"}, Value{"0/s"}, Value{"-1/s"}, Value{0},
          Value{"1e99/s"}, Value{"inf/s"}, Value{"nan/s"}, Value{"/s"}, Value{}, Value{true}}) {
        EXPECT_FALSE(parse_rate(written)) << parse_rate(written).value_or(0);
    }
}

TEST(AmountText, ReadsSizes) {
    EXPECT_EQ(*parse_bytes("256MiB"), 256U << 20U);
    EXPECT_EQ(*parse_bytes("1.5KiB"), 1536U);
    EXPECT_EQ(*parse_bytes(4096), 4096U);
    EXPECT_FALSE(parse_bytes("256MB"));
    EXPECT_FALSE(parse_bytes("lots"));
    EXPECT_FALSE(parse_bytes(0));
}

} // namespace
} // namespace sluice::value
