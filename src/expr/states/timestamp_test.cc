#include "expr/states/timestamp.h"

#include <chrono>

#include <gtest/gtest.h>

namespace sluice::expr::states {
namespace {

TEST(Timestamp, ReadsRfc3339) {
    EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00Z"), Timestamp{});
    EXPECT_EQ(parse_timestamp("2016-03-14T01:59:00.25Z"), (Timestamp{1'457'920'740, 250'000'000}));
    EXPECT_EQ(parse_timestamp("2016-03-14T02:59:00+01:00"),
              parse_timestamp("2016-03-14T01:59:00Z"));
    EXPECT_EQ(parse_timestamp("2016-03-13T20:29:00-05:30"),
              parse_timestamp("2016-03-14T01:59:00Z"));
    EXPECT_EQ(parse_timestamp("2016-03-05T21:29:29.243167252Z")->nanos, 243'167'252);
    EXPECT_EQ(parse_timestamp("9999-12-31T23:59:59Z")->seconds, 253'402'300'799);
    EXPECT_EQ(parse_timestamp("1969-12-31T23:59:59.5Z"), (Timestamp{-1, 500'000'000}));
}

TEST(Timestamp, RefusesWhatIsNone) {
    for (const auto* text :
         {"", "2016-03-14", "2016-03-14 01:59:00Z", "2016-03-14t01:59:00Z", "2016-03-14T01:59:00z",
          "2016-03-14T01:59:00", "2016-13-14T01:59:00Z", "2016-02-30T01:59:00Z",
          "2016-03-14T24:59:00Z", "2016-03-14T01:60:00Z", "2016-03-14T01:59:00.Z",
          "2016-03-14T01:59:00.1234567890Z", "2016-03-14T01:59:00+1:00", "2016-03-14T01:59:00ZZ",
          "05-12-2016T21:29:29Z", "2016-3-14T01:59:00Z", "-016-03-14T01:59:00Z"}) {
        EXPECT_EQ(parse_timestamp(text), std::nullopt) << text;
    }
}

TEST(Timestamp, OrdersTimesBeforeAndBehind1970) {
    EXPECT_LT(*parse_timestamp("1969-12-31T23:59:59.2Z"),
              *parse_timestamp("1969-12-31T23:59:59.5Z"));
    EXPECT_EQ(timestamp_of(Time{std::chrono::milliseconds{-500}}), (Timestamp{-1, 500'000'000}));
}

} // namespace
} // namespace sluice::expr::states
