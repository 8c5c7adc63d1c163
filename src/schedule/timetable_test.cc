#include "schedule/timetable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "value/json.h"
#include "value/time_text.h"

namespace sluice::schedule {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Time at(std::string_view text) {
    return value::parse_time(text).value();
}

Timetable table_of(std::string_view json) {
    auto table = Timetable::parse(value::parse_json(json).value());
    EXPECT_TRUE(table) << table.error().message;
    return *table;
}

std::string table_mistake(std::string_view json) {
    auto table = Timetable::parse(value::parse_json(json).value());
    return table ? "none" : table.error().message;
}

std::vector<std::string> texts(const std::vector<Time>& times) {
    auto all = std::vector<std::string>{};
    for (auto time : times) {
        all.push_back(value::format_time(time));
    }
    return all;
}

std::vector<std::string> next_of(std::string_view json, std::string_view after, std::size_t count) {
    auto table = table_of(json);
    auto times = std::vector<Time>{};
    for (auto time = table.next(at(after)); time && times.size() < count;
         time = table.next(*time)) {
        times.push_back(*time);
    }
    return texts(times);
}

TEST(Timetable, GoesByTheClocksOfAZone) {
    EXPECT_THAT(
        next_of(R"({"cron": "0 9 * * *", "zone": "Europe/Berlin"})", "2026-10-24T08:00:00Z", 2),
        ElementsAre("2026-10-25T08:00:00Z", "2026-10-26T08:00:00Z"));
    EXPECT_THAT(
        next_of(R"({"cron": "0 9 * * *", "zone": "America/New_York"})", "2026-07-01T00:00:00Z", 1),
        ElementsAre("2026-07-01T13:00:00Z"));
    EXPECT_THAT(next_of(R"({"cron": "0 9 * * *"})", "2026-07-01T00:00:00Z", 1),
                ElementsAre("2026-07-01T09:00:00Z"));
}

// In Berlin the clocks went from 2:00 to 3:00 on the 29th of March 2026, at 1:00 UTC.
TEST(Timetable, RunsOnceAfterAnHourThatIsLeftOut) {
    EXPECT_THAT(
        next_of(R"({"cron": "30 2 * * *", "zone": "Europe/Berlin"})", "2026-03-28T12:00:00Z", 2),
        ElementsAre("2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"));
    EXPECT_THAT(
        next_of(R"({"cron": "*/20 2,3 * * *", "zone": "Europe/Berlin"})", "2026-03-29T00:30:00Z",
                3),
        ElementsAre("2026-03-29T01:00:00Z", "2026-03-29T01:20:00Z", "2026-03-29T01:40:00Z"));
}

// They went back from 3:00 to 2:00 on the 25th of October 2026, at 1:00 UTC.
TEST(Timetable, RunsOnceInAnHourThatComesTwice) {
    EXPECT_THAT(
        next_of(R"({"cron": "30 2 * * *", "zone": "Europe/Berlin"})", "2026-10-24T12:00:00Z", 2),
        ElementsAre("2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"));
    EXPECT_THAT(
        next_of(R"({"cron": "0,30 2 * * *", "zone": "Europe/Berlin"})", "2026-10-25T01:10:00Z", 1),
        ElementsAre("2026-10-26T01:00:00Z"));
}

TEST(Timetable, RunsEveryHourThatPassesWhereEveryHourIsMeant) {
    EXPECT_THAT(
        next_of(R"({"cron": "30 * * * *", "zone": "Europe/Berlin"})", "2026-03-29T00:00:00Z", 3),
        ElementsAre("2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z", "2026-03-29T02:30:00Z"));
    EXPECT_THAT(
        next_of(R"({"cron": "30 * * * *", "zone": "Europe/Berlin"})", "2026-10-24T23:45:00Z", 3),
        ElementsAre("2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z"));
}

TEST(Timetable, KnowsZonesWithOddChanges) {
    // Lord Howe Island changes by half an hour: at 2:00 to 2:30 on the 4th of October 2026.
    EXPECT_THAT(next_of(R"({"cron": "15 2 4 10 *", "zone": "Australia/Lord_Howe"})",
                        "2026-10-01T00:00:00Z", 1),
                ElementsAre("2026-10-03T15:30:00Z"));
    // Samoa left out the 30th of December 2011.
    EXPECT_THAT(
        next_of(R"({"cron": "0 12 30 12 *", "zone": "Pacific/Apia"})", "2011-12-01T00:00:00Z", 1),
        ElementsAre("2011-12-30T10:00:00Z"));
}

TEST(Timetable, CountsPeriods) {
    EXPECT_THAT(
        next_of(R"({"every": "90m", "from": "2026-11-15T09:00:00Z"})", "2026-11-15T08:00:00Z", 3),
        ElementsAre("2026-11-15T09:00:00Z", "2026-11-15T10:30:00Z", "2026-11-15T12:00:00Z"));
    EXPECT_THAT(next_of(R"({"every": "5m"})", "2026-11-15T08:02:00.5Z", 1),
                ElementsAre("2026-11-15T08:05:00Z"));
}

TEST(Timetable, ComesOnce) {
    EXPECT_THAT(next_of(R"({"at": "2026-11-15T09:00:00+01:00"})", "2026-11-15T07:00:00Z", 3),
                ElementsAre("2026-11-15T08:00:00Z"));
    EXPECT_THAT(next_of(R"({"at": "2026-11-15T09:00:00Z"})", "2026-11-15T09:00:00Z", 3),
                ElementsAre());
}

TEST(Timetable, FindsTheLastTimesOfMany) {
    auto each_second = table_of(R"({"cron": "* * * * * *"})");
    EXPECT_THAT(
        texts(each_second.latest(2, at("2006-01-01T00:00:00Z"), at("2026-01-01T00:00:00Z"))),
        ElementsAre("2025-12-31T23:59:59Z", "2026-01-01T00:00:00Z"));
    auto yearly = table_of(R"({"cron": "@yearly"})");
    EXPECT_THAT(texts(yearly.latest(9, at("2024-01-01T00:00:00Z"), at("2026-11-15T00:00:00Z"))),
                ElementsAre("2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"));
    EXPECT_THAT(yearly.latest(9, at("2026-02-01T00:00:00Z"), at("2026-11-15T00:00:00Z")),
                ElementsAre());
}

TEST(Timetable, SaysWhatIsWrong) {
    EXPECT_THAT(table_mistake("{}"), HasSubstr("expected one of cron"));
    EXPECT_THAT(table_mistake(R"({"every": "5m", "at": "x"})"), HasSubstr("expected one of"));
    EXPECT_THAT(table_mistake(R"({"every": "1ms"})"), HasSubstr("at least a second"));
    EXPECT_THAT(table_mistake(R"({"every": "5m", "zone": "UTC"})"), HasSubstr("belongs to cron"));
    EXPECT_THAT(table_mistake(R"({"cron": "@daily", "zone": "Mars/Base"})"),
                HasSubstr("no time zone \"Mars/Base\""));
    EXPECT_THAT(table_mistake(R"({"cron": "@daily", "zone": "../../etc/passwd"})"),
                HasSubstr("no time zone"));
    EXPECT_THAT(table_mistake(R"({"at": "tomorrow"})"), HasSubstr("expected a time"));
    EXPECT_THAT(table_mistake(R"({"cron": 7})"), HasSubstr("expected a text"));
}

} // namespace
} // namespace sluice::schedule
