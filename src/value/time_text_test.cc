#include "value/time_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::value {

namespace {

using namespace std::chrono_literals;

Time at(std::chrono::sys_days day, Nanos time = {}) {
    return Time{day} + time;
}

using std::chrono::sys_days;
using std::chrono::year;

} // namespace

TEST(TimeText, ReadsRfc3339) {
    auto day = sys_days{year{2026} / 11 / 15};

    EXPECT_EQ(parse_time("2026-11-15T05:57:30Z"), at(day, 5h + 57min + 30s));
    EXPECT_EQ(parse_time("2026-11-15t05:57:30z"), at(day, 5h + 57min + 30s));
    EXPECT_EQ(parse_time("2026-11-15T05:57:30.25Z"), at(day, 5h + 57min + 30s + 250ms));
    EXPECT_EQ(parse_time("2026-11-15T05:57:30+02:00"), at(day, 3h + 57min + 30s));
    EXPECT_EQ(parse_time("2026-11-15T00:00:00-23:59"), at(day, 23h + 59min));
    EXPECT_EQ(parse_time("2026-11-15T00:00:00-00:00"), at(day));
    EXPECT_EQ(parse_time("1969-12-31T23:59:59.999999999Z"), Time{-1ns});
}

TEST(TimeText, CutsOffWhatIsLessThanANanosecond) {
    EXPECT_EQ(parse_time("1970-01-01T00:00:00.1234567899999999999999999Z"), Time{123'456'789ns});
    EXPECT_EQ(parse_time("1970-01-01T00:00:00." + std::string(1000, '9') + "Z"),
              Time{999'999'999ns});
}

TEST(TimeText, KnowsLeapYears) {
    EXPECT_TRUE(parse_time("2024-02-29T00:00:00Z"));
    EXPECT_TRUE(parse_time("2000-02-29T00:00:00Z"));
    EXPECT_FALSE(parse_time("2023-02-29T00:00:00Z"));
    EXPECT_FALSE(parse_time("1900-02-29T00:00:00Z"));
}

// RFC 3339, 5.7 and 5.8: a leap second ends a day of UTC.
TEST(TimeText, TakesALeapSecondAsTheNext) {
    auto next = at(sys_days{year{1999} / 1 / 1});

    EXPECT_EQ(parse_time("1998-12-31T23:59:60Z"), next);
    EXPECT_EQ(parse_time("1998-12-31T15:59:60.5-08:00"), next + 500ms);
    EXPECT_FALSE(parse_time("1998-12-31T22:59:60Z"));
    EXPECT_FALSE(parse_time("1998-12-31T23:58:60Z"));
    EXPECT_FALSE(parse_time("1998-12-31T23:59:60+01:00"));
    EXPECT_FALSE(parse_time("1998-12-31T23:59:61Z"));
}

TEST(TimeText, RefusesWhatIsNoTime) {
    for (auto text : {"",
                      "2026",
                      "2026-11-15",
                      "2026-11-15T05:57:30",
                      "2026-11-15 05:57:30Z",
                      "2026-11-15T05:57Z",
                      "2026-02-30T00:00:00Z",
                      "2026-04-31T00:00:00Z",
                      "2026-13-01T00:00:00Z",
                      "2026-00-01T00:00:00Z",
                      "2026-01-00T00:00:00Z",
                      "2026-01-32T00:00:00Z",
                      "2026-01-01T24:00:00Z",
                      "2026-01-01T00:60:00Z",
                      "2026-01-01T00:00:00.Z",
                      "2026-01-01T00:00:00,5Z",
                      "2026-01-01T00:00:00+24:00",
                      "2026-01-01T00:00:00+01:60",
                      "2026-01-01T00:00:00+0100",
                      "2026-01-01T00:00:00+01",
                      "2026-01-01T00:00:00ZZ",
                      "2026-01-01T00:00:00Z ",
                      " 2026-01-01T00:00:00Z",
                      "26-01-01T00:00:00Z",
                      "+2026-01-01T00:00:00Z",
                      "-2026-01-01T00:00:00Z",
                      "02026-01-01T00:00:00Z",
                      "2026-1-1T00:00:00Z",
                      "0000-01-01T00:00:00Z",
                      "2026-01-01T00:00:0aZ",
                      "2026-01-01T-1:00:00Z"}) {
        auto time = parse_time(text);

        ASSERT_FALSE(time) << text;
        EXPECT_EQ(time.error().code, Errc::InvalidInput);
    }
}

TEST(TimeText, SaysWhatIsOutOfRange) {
    for (auto text : {"0001-01-01T00:00:00Z", "1677-09-21T00:12:43.145224191Z",
                      "2262-04-11T23:47:16.854775808Z", "9999-12-31T23:59:59Z"}) {
        auto time = parse_time(text);

        ASSERT_FALSE(time) << text;
        EXPECT_EQ(time.error().code, Errc::InvalidInput);
        EXPECT_NE(time.error().message.find("out of range"), std::string::npos);
    }
}

TEST(TimeText, ReachesBothEndsOfTime) {
    EXPECT_EQ(format_time(Time::min()), "1677-09-21T00:12:43.145224192Z");
    EXPECT_EQ(format_time(Time::max()), "2262-04-11T23:47:16.854775807Z");
    EXPECT_EQ(parse_time(format_time(Time::min())), Time::min());
    EXPECT_EQ(parse_time(format_time(Time::max())), Time::max());
}

TEST(TimeText, WritesTheFractionDigitsItNeeds) {
    EXPECT_EQ(format_time(Time{}), "1970-01-01T00:00:00Z");
    EXPECT_EQ(format_time(Time{250ms}), "1970-01-01T00:00:00.25Z");
    EXPECT_EQ(format_time(Time{1ns}), "1970-01-01T00:00:00.000000001Z");
    EXPECT_EQ(format_time(Time{-1ns}), "1969-12-31T23:59:59.999999999Z");
    EXPECT_EQ(format_time(Time{-1s}), "1969-12-31T23:59:59Z");
}

TEST(TimeText, ReadsDurations) {
    EXPECT_EQ(parse_duration("1h30m"), 90min);
    EXPECT_EQ(parse_duration("250ms"), 250ms);
    EXPECT_EQ(parse_duration("1.5s"), 1500ms);
    EXPECT_EQ(parse_duration("2d"), 48h);
    EXPECT_EQ(parse_duration("0"), 0ns);
    EXPECT_EQ(parse_duration("0s"), 0ns);
    EXPECT_EQ(parse_duration("-1m30s"), -90s);
    EXPECT_EQ(parse_duration("+3us"), 3us);
    EXPECT_EQ(parse_duration("1s1s"), 2s);
    EXPECT_EQ(parse_duration("1.9ns"), 1ns);
    EXPECT_EQ(parse_duration("0.5d"), 12h);
    EXPECT_EQ(parse_duration("0." + std::string(1000, '3') + "s"), 333'333'333ns);
    EXPECT_EQ(parse_duration(std::string(1000, '0') + "1s"), 1s);
}

TEST(TimeText, RefusesWhatIsNoDuration) {
    for (auto text :
         {"",    "-",     "+",   "1",    "00",   "s",      "1x", "1sec", "1 s", " 1s", "1s ", "1.s",
          ".5s", "1..5s", "1.5", "1h30", "--1s", "1h-30m", "1S", "1e3s", "0.0", "1s,", "1hm"}) {
        auto duration = parse_duration(text);

        ASSERT_FALSE(duration) << text;
        EXPECT_EQ(duration.error().code, Errc::InvalidInput);
    }
}

TEST(TimeText, RefusesDurationsBeyond64Bits) {
    EXPECT_EQ(parse_duration("9223372036854775807ns"), Nanos::max());
    EXPECT_EQ(parse_duration("-9223372036854775808ns"), Nanos::min());
    for (const auto& text :
         {std::string{"9223372036854775808ns"}, std::string{"-9223372036854775809ns"},
          std::string{"106752d"}, std::string{"106751d106751d"}, std::string(1000, '9') + "d",
          std::string{"9223372036s999ms"}}) {
        auto duration = parse_duration(text);

        ASSERT_FALSE(duration) << text;
        EXPECT_EQ(duration.error().code, Errc::InvalidInput);
        EXPECT_NE(duration.error().message.find("out of range"), std::string::npos);
    }
}

TEST(TimeText, WritesDurationsLargestUnitsFirst) {
    EXPECT_EQ(format_duration(90min), "1h30m");
    EXPECT_EQ(format_duration(250ms), "250ms");
    EXPECT_EQ(format_duration(1500ms), "1s500ms");
    EXPECT_EQ(format_duration(49h), "2d1h");
    EXPECT_EQ(format_duration(0ns), "0s");
    EXPECT_EQ(format_duration(-90s), "-1m30s");
    EXPECT_EQ(format_duration(Nanos::min()), "-106751d23h47m16s854ms775us808ns");
}

RC_GTEST_PROP(TimeText, TimesAreReadBack, (std::int64_t count)) {
    auto time = Time{Nanos{count}};

    RC_ASSERT(parse_time(format_time(time)).value() == time);
}

RC_GTEST_PROP(TimeText, TimesAreWrittenAsALibraryWould, (std::int64_t count)) {
    auto time = Time{Nanos{count}};
    auto day = std::chrono::floor<std::chrono::days>(time);
    auto date = std::chrono::year_month_day{day};
    auto clock = std::chrono::hh_mm_ss{time - day};
    auto expected =
        fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}", static_cast<int>(date.year()),
                    static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                    clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                    clock.subseconds().count());
    expected.erase(expected.find_last_not_of('0') + 1);
    expected.erase(expected.find_last_not_of('.') + 1);

    RC_ASSERT(format_time(time) == expected + "Z");
}

RC_GTEST_PROP(TimeText, DurationsAreReadBack, (std::int64_t count)) {
    RC_ASSERT(parse_duration(format_duration(Nanos{count})).value() == Nanos{count});
}

} // namespace sluice::value
