#include "server/intake/backfill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "value/json.h"
#include "value/time_text.h"

namespace sluice::server::intake {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<Backfill> backfill(const std::string& form, const std::vector<std::string>& schedules = {}) {
    auto known = std::vector<Value>{};
    for (const auto& each : schedules) {
        known.push_back(*value::parse_json(each));
    }
    return Backfill::parse(*value::parse_json(form), known);
}

std::string complaint(const std::string& form, const std::vector<std::string>& schedules = {}) {
    auto made = backfill(form, schedules);
    return made ? "" : made.error().message;
}

std::vector<std::string> times_of(const Result<Backfill>& made) {
    auto times = std::vector<std::string>{};
    for (auto time : made ? made->times : std::vector<Time>{}) {
        times.push_back(value::format_time(time));
    }
    return times;
}

constexpr auto nightly =
    R"({"schedule":"night","cron":"30 2 * * *","zone":"Europe/Berlin","start":{"definition":"load"}})";

TEST(BackfillTest, DaysAreWholeDays) {
    auto made = backfill(
        R"({"definition":"load","from":"2026-01-01","to":"2026-01-02","every":"12h","limit":3})");

    EXPECT_THAT(times_of(made), ElementsAre("2026-01-01T00:00:00Z", "2026-01-01T12:00:00Z",
                                            "2026-01-02T00:00:00Z", "2026-01-02T12:00:00Z"));
    EXPECT_EQ(made->limit, 3);
}

TEST(BackfillTest, DaysAreThoseOfTheZone) {
    auto made = backfill(R"({"definition":"load","from":"2026-03-29","to":"2026-03-29",
                             "every":"0 * * * *","zone":"Europe/Berlin"})");

    ASSERT_EQ(made->times.size(), 23U) << "clocks go forward that night";
    EXPECT_EQ(times_of(made).front(), "2026-03-28T23:00:00Z");
}

TEST(BackfillTest, TheSchedulesOwnTimesAndRuns) {
    auto made =
        backfill(R"({"definition":"load","from":"2026-01-01","to":"2026-01-02"})", {nightly});

    EXPECT_THAT(times_of(made), ElementsAre("2026-01-01T01:30:00Z", "2026-01-02T01:30:00Z"));
    EXPECT_EQ(made->run_of(made->times.front()), "night-2026-01-01T01:30:00Z");
    auto first = made->run_input().find("times")->as_list().front();
    EXPECT_EQ(value::to_json(*first.find("input")),
              R"({"schedule":"night","time":"2026-01-01T01:30:00Z"})");
}

TEST(BackfillTest, TheSameRequestIsTheSameRun) {
    auto form = std::string{
        R"({"definition":"load","from":"2026-01-01","to":"2026-01-02","every":"@daily"})"};

    EXPECT_EQ(backfill(form)->id, backfill(form)->id);
    EXPECT_NE(
        backfill(form)->id,
        backfill(R"({"definition":"load","from":"2026-01-01","to":"2026-01-03","every":"@daily"})")
            ->id);
}

TEST(BackfillTest, WhatIsWrongIsSaid) {
    EXPECT_THAT(complaint(R"({"from":"2026-01-01","to":"2026-01-02","every":"1h"})"),
                HasSubstr("definition: expected"));
    EXPECT_THAT(complaint(R"({"definition":"d","from":"2026-13-01","to":"x","every":"1h"})"),
                HasSubstr("expected a date such as"));
    EXPECT_THAT(complaint(R"({"definition":"d","from":"2026-01-01","to":"2026-01-02"})"),
                HasSubstr("no schedule starts \"d\""));
    EXPECT_THAT(
        complaint(R"({"definition":"d","from":"2026-01-01","to":"2026-01-02","schedule":"s"})"),
        HasSubstr("there is no schedule \"s\""));
    EXPECT_THAT(complaint(R"({"definition":"load","from":"2026-01-01","to":"2026-01-02"})",
                          {nightly, std::string{nightly}}),
                HasSubstr("several schedules"));
    EXPECT_THAT(
        complaint(R"({"definition":"d","from":"2026-01-02","to":"2026-01-01","every":"1h"})"),
        HasSubstr("no run is due"));
    EXPECT_THAT(
        complaint(R"({"definition":"d","from":"1990-01-02","to":"2026-01-01","every":"1s"})"),
        HasSubstr("more than 10000 times"));
    EXPECT_THAT(complaint(R"({"definition":"d","until":"2026-01-02"})"),
                HasSubstr("until: expected"));
    EXPECT_THAT(
        complaint(
            R"({"definition":"d","from":"2026-01-01","to":"2026-01-02","every":"1h","limit":0})"),
        HasSubstr("limit: expected"));
}

} // namespace
} // namespace sluice::server::intake
