#include "schedule/cron.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "value/time_text.h"

namespace sluice::schedule {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// As text, so that failures can be read.
std::string text_of_local(LocalTime time) {
    auto text = value::format_time(Time{time.time_since_epoch()});
    return text.substr(0, text.size() - 1);
}

LocalTime local(std::string_view text) {
    auto time = value::parse_time(std::string{text} + "Z").value();
    return LocalTime{std::chrono::floor<std::chrono::seconds>(time).time_since_epoch()};
}

std::vector<std::string> next_times(std::string_view text, std::string_view after,
                                    std::size_t count) {
    auto cron = Cron::parse(text);
    if (!cron) {
        return {cron.error().message};
    }
    auto times = std::vector<std::string>{};
    for (auto time = cron->next(local(after)); time && times.size() < count;
         time = cron->next(*time)) {
        times.push_back(text_of_local(*time));
    }
    return times;
}

std::string cron_mistake(std::string_view text) {
    auto cron = Cron::parse(text);
    return cron ? "none" : cron.error().message;
}

TEST(Cron, ReadsNumbersRangesStepsAndLists) {
    EXPECT_THAT(next_times("30 9 * * *", "2026-11-15T09:30:00", 2),
                ElementsAre("2026-11-16T09:30:00", "2026-11-17T09:30:00"));
    EXPECT_THAT(next_times("*/20 * * * *", "2026-11-15T23:20:00", 3),
                ElementsAre("2026-11-15T23:40:00", "2026-11-16T00:00:00", "2026-11-16T00:20:00"));
    EXPECT_THAT(next_times("0 8-10,22 * * *", "2026-11-15T09:00:01", 3),
                ElementsAre("2026-11-15T10:00:00", "2026-11-15T22:00:00", "2026-11-16T08:00:00"));
    EXPECT_THAT(next_times("50/5 0 1-7/3 * *", "2026-11-01T00:00:00", 3),
                ElementsAre("2026-11-01T00:50:00", "2026-11-01T00:55:00", "2026-11-04T00:50:00"));
}

TEST(Cron, TakesSecondsAsTheFirstOfSixFields) {
    EXPECT_THAT(next_times("*/30 59 23 31 12 *", "2026-01-01T00:00:00", 3),
                ElementsAre("2026-12-31T23:59:00", "2026-12-31T23:59:30", "2027-12-31T23:59:00"));
}

TEST(Cron, ReadsNamesInAnyCase) {
    EXPECT_THAT(next_times("0 0 * feb-Mar mon", "2026-02-20T00:00:00", 3),
                ElementsAre("2026-02-23T00:00:00", "2026-03-02T00:00:00", "2026-03-09T00:00:00"));
    EXPECT_THAT(next_times("0 0 * * FRI-SUN", "2026-11-15T00:00:00", 2),
                ElementsAre("2026-11-20T00:00:00", "2026-11-21T00:00:00"));
    EXPECT_EQ(next_times("0 0 * * 7", "2026-11-14T00:00:00", 1),
              next_times("0 0 * * 0", "2026-11-14T00:00:00", 1));
}

TEST(Cron, TakesEitherDayWhereBothAreLimited) {
    EXPECT_THAT(next_times("0 0 13 * FRI", "2026-11-12T00:00:00", 3),
                ElementsAre("2026-11-13T00:00:00", "2026-11-20T00:00:00", "2026-11-27T00:00:00"));
    EXPECT_THAT(next_times("0 0 1 * ?", "2026-11-12T00:00:00", 1),
                ElementsAre("2026-12-01T00:00:00"));
}

TEST(Cron, KnowsNicknames) {
    EXPECT_THAT(next_times("@hourly", "2026-11-15T09:30:00", 1),
                ElementsAre("2026-11-15T10:00:00"));
    EXPECT_THAT(next_times("@daily", "2026-11-15T09:30:00", 1), ElementsAre("2026-11-16T00:00:00"));
    EXPECT_THAT(next_times("@weekly", "2026-11-15T09:30:00", 1),
                ElementsAre("2026-11-22T00:00:00"));
    EXPECT_THAT(next_times("@monthly", "2026-11-15T09:30:00", 1),
                ElementsAre("2026-12-01T00:00:00"));
    EXPECT_THAT(next_times("@yearly", "2026-11-15T09:30:00", 1),
                ElementsAre("2027-01-01T00:00:00"));
}

TEST(Cron, FindsLastDays) {
    EXPECT_THAT(next_times("0 0 L * *", "2028-01-31T00:00:00", 2),
                ElementsAre("2028-02-29T00:00:00", "2028-03-31T00:00:00"));
    EXPECT_THAT(next_times("0 0 L-2 * *", "2026-02-01T00:00:00", 1),
                ElementsAre("2026-02-26T00:00:00"));
    EXPECT_THAT(next_times("0 0 * * 5L", "2026-11-01T00:00:00", 2),
                ElementsAre("2026-11-27T00:00:00", "2026-12-25T00:00:00"));
}

TEST(Cron, FindsWeekdaysNearADay) {
    // The 15th of November 2026 is a Sunday, the 1st too, the 31st of October a Saturday.
    EXPECT_THAT(next_times("0 0 15W 11 *", "2026-11-01T00:00:00", 1),
                ElementsAre("2026-11-16T00:00:00"));
    EXPECT_THAT(next_times("0 0 14W 11 *", "2026-11-01T00:00:00", 1),
                ElementsAre("2026-11-13T00:00:00"));
    EXPECT_THAT(next_times("0 0 1W 8 *", "2026-07-31T00:00:00", 1),
                ElementsAre("2026-08-03T00:00:00"));
    EXPECT_THAT(next_times("0 0 LW 10 *", "2026-10-01T00:00:00", 1),
                ElementsAre("2026-10-30T00:00:00"));
}

TEST(Cron, FindsTheNthDayOfTheWeek) {
    EXPECT_THAT(next_times("0 0 * * TUE#2", "2026-11-01T00:00:00", 2),
                ElementsAre("2026-11-10T00:00:00", "2026-12-08T00:00:00"));
    EXPECT_THAT(next_times("0 0 * * 1#5", "2026-11-01T00:00:00", 1),
                ElementsAre("2026-11-30T00:00:00"));
}

TEST(Cron, WaitsForLeapYears) {
    EXPECT_THAT(next_times("0 0 29 2 *", "2096-03-01T00:00:00", 1),
                ElementsAre("2104-02-29T00:00:00"));
}

TEST(Cron, SaysWhatIsWrong) {
    EXPECT_THAT(cron_mistake("* * *"), HasSubstr("has 3 fields: expected 5"));
    EXPECT_THAT(cron_mistake("60 * * * *"), HasSubstr("minute \"60\": expected 0 to 59"));
    EXPECT_THAT(cron_mistake("* 5-1 * * *"), HasSubstr("hour \"5-1\""));
    EXPECT_THAT(cron_mistake("* * 0 * *"), HasSubstr("day \"0\""));
    EXPECT_THAT(cron_mistake("* * * FOO *"), HasSubstr("a name such as FEB"));
    EXPECT_THAT(cron_mistake("*/0 * * * *"), HasSubstr("minute"));
    EXPECT_THAT(cron_mistake("1,,2 * * * *"), HasSubstr("minute"));
    EXPECT_THAT(cron_mistake("1, * * * *"), HasSubstr("minute"));
    EXPECT_THAT(cron_mistake("-1 * * * *"), HasSubstr("minute"));
    EXPECT_THAT(cron_mistake("* * * * 1#6"), HasSubstr("weekday"));
    EXPECT_THAT(cron_mistake("0 0 30 2 *"), HasSubstr("no such day"));
    EXPECT_THAT(cron_mistake("@reboot"), HasSubstr("expected @hourly"));
    EXPECT_THAT(cron_mistake(""), HasSubstr("0 fields"));
    EXPECT_THAT(cron_mistake(std::string(5'000, '*')), HasSubstr("at most"));
}

// What a reader of the calendar would do: look at each minute.
RC_GTEST_PROP(Cron, AgreesWithLookingAtEveryMinute, ()) {
    auto minute = *rc::gen::inRange(0, 60);
    auto hour = *rc::gen::inRange(0, 24);
    auto step = *rc::gen::inRange(1, 30);
    auto weekday = *rc::gen::inRange(0, 7);
    auto start = local("2026-01-01T00:00:00") + std::chrono::hours{*rc::gen::inRange(0, 9'000)};
    auto text = fmt::format("{}/{} {} * * {}", minute, step, hour, weekday);
    auto cron = Cron::parse(text).value();

    auto found = cron.next(start).value();

    auto looked = start;
    auto matches = [&](LocalTime time) {
        auto day = std::chrono::floor<std::chrono::days>(time);
        auto clock = std::chrono::hh_mm_ss{time - day};
        return std::chrono::weekday{day}.c_encoding() == static_cast<unsigned>(weekday) &&
               clock.hours().count() == hour && clock.minutes().count() >= minute &&
               (clock.minutes().count() - minute) % step == 0;
    };
    do {
        looked += std::chrono::minutes{1};
    } while (!matches(looked));
    RC_ASSERT(text_of_local(found) == text_of_local(looked));
}

} // namespace
} // namespace sluice::schedule
