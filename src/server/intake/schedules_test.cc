#include "server/intake/schedules.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/memory/memory_store.h"
#include "value/json.h"
#include "value/time_text.h"

namespace sluice::server::intake {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Time moment(std::string_view text) {
    return value::parse_time(text).value();
}

/// A clock that a test sets.
class SetClock final : public Clock {
public:
    Time wall() const override { return now; }
    Nanos steady() const override { return passed; }

    void advance(Nanos duration) {
        now += duration;
        passed += duration;
    }

    Time now = moment("2026-11-15T08:00:00Z");
    Nanos passed{0};
};

/// Notes what it is to do. As the engine does, it starts a run once.
class NotedActions final : public ScheduleActions {
public:
    void start(const engine::StartRequest& request, Done done) override {
        if (error) {
            done(std::unexpected(*error));
            return;
        }
        if (runs.insert(request.id).second) {
            begun.push_back(request.id);
        }
        inputs.push_back(request.input);
        if (is_holding) {
            held.push_back(std::move(done));
        } else {
            done({});
        }
    }
    void send(std::string, event::Event event, Done done) override {
        sent.push_back(event);
        done({});
    }
    void ask_running(const engine::RunName& run,
                     std::move_only_function<void(bool)> done) override {
        done(running.contains(run.id));
    }

    std::set<std::string> runs;
    std::vector<std::string> begun;
    std::vector<Value> inputs;
    std::vector<event::Event> sent;
    std::set<std::string> running;
    std::optional<Error> error;
    bool is_holding = false;
    std::vector<Done> held;
};

class SchedulesTest : public ::testing::Test {
protected:
    void SetUp() override { open(); }

    /// As the program does when it starts, on what the store has.
    void open() {
        documents_ = std::move(*Documents::open(
            store_, {std::string{Schedules::kind}, std::string{Schedules::state_kind}}));
        schedules_ = std::move(*Schedules::open(*documents_, clock_, actions_, [] {}));
    }

    void put(const std::string& name, const std::string& json) {
        auto done = schedules_->put("default", name, value::parse_json(json).value());
        ASSERT_TRUE(done) << done.error().message;
    }
    std::string mistake(const std::string& json) {
        auto done = schedules_->put("default", "s", value::parse_json(json).value());
        return done ? "none" : done.error().message;
    }

    /// Lets time pass as the thread would: from one step to the next.
    void pass(Nanos duration) {
        auto end = clock_.passed + duration;
        while (true) {
            auto left = schedules_->step();
            ASSERT_GE(left, Nanos{0});
            if (clock_.passed + left > end) {
                break;
            }
            clock_.advance(std::max(left, Nanos{1}));
        }
        clock_.advance(std::max(Nanos{0}, end - clock_.passed));
        schedules_->step();
    }

    std::vector<std::string> begun() { return std::exchange(actions_.begun, {}); }
    Value state(const std::string& name = "s") {
        return *schedules_->view("default", name)->find("state");
    }

    store::memory::MemoryStore store_;
    SetClock clock_;
    NotedActions actions_;
    std::unique_ptr<Documents> documents_;
    std::unique_ptr<Schedules> schedules_;
};

using namespace std::chrono_literals;

const auto hourly = std::string{R"({"cron": "0 * * * *", "start": {"definition": "d"}})"};

TEST_F(SchedulesTest, StartsARunAtEachTime) {
    put("s", hourly);
    pass(59min);
    EXPECT_THAT(begun(), IsEmpty());
    pass(2h);
    EXPECT_THAT(begun(), ElementsAre("s-2026-11-15T09:00:00Z", "s-2026-11-15T10:00:00Z"));
    EXPECT_EQ(*state().find("fired"), Value{2});
    EXPECT_EQ(*actions_.inputs.front().find("time"), Value{moment("2026-11-15T09:00:00Z")});
}

TEST_F(SchedulesTest, SendsEventsThatAreTheSameEachTime) {
    put("s", R"({"every": "1h", "send": {"type": "tick", "subject": "x", "run": "r",
                 "data": {"a": 1}}})");
    pass(1h);
    ASSERT_EQ(actions_.sent.size(), 1U);
    const auto& event = actions_.sent.front();
    EXPECT_EQ(event.id(), "s-2026-11-15T09:00:00Z");
    EXPECT_EQ(event.source(), "/schedules/s");
    EXPECT_EQ(event.type(), "tick");
    EXPECT_EQ(event.run(), "r");
    EXPECT_EQ(event.time(), moment("2026-11-15T09:00:00Z"));
}

TEST_F(SchedulesTest, ComesOnceAtATime) {
    put("s", R"({"at": "2026-11-15T08:30:00Z", "start": {"definition": "d", "input": 7}})");
    pass(3h);
    EXPECT_THAT(begun(), ElementsAre("s-2026-11-15T08:30:00Z"));
    EXPECT_EQ(actions_.inputs.front(), Value{7});
    EXPECT_TRUE(state().find("next")->is_null());
    EXPECT_THAT(mistake(R"({"at": "2026-11-15T08:00:00Z", "start": {"definition": "d"}})"),
                HasSubstr("is over"));
}

TEST_F(SchedulesTest, RunsOnceForAllThatWasMissed) {
    put("s", hourly);
    clock_.advance(5h + 30min);
    open();
    pass(1min);
    EXPECT_THAT(begun(), ElementsAre("s-2026-11-15T13:00:00Z"));
    pass(30min);
    EXPECT_THAT(begun(), ElementsAre("s-2026-11-15T14:00:00Z"));
}

TEST_F(SchedulesTest, RunsAllThatWasMissedUpToABound) {
    put("s", R"({"cron": "0 * * * *", "start": {"definition": "d"}, "missed": "run_all",
                 "missed_max": 3})");
    clock_.advance(100h + 30min);
    pass(1min);
    EXPECT_THAT(begun(), ElementsAre("s-2026-11-19T10:00:00Z", "s-2026-11-19T11:00:00Z",
                                     "s-2026-11-19T12:00:00Z"));
}

TEST_F(SchedulesTest, LeavesOutWhatWasMissed) {
    put("s", R"({"cron": "0 * * * *", "start": {"definition": "d"}, "missed": "skip"})");
    clock_.advance(5h + 30min);
    pass(1min);
    EXPECT_THAT(begun(), IsEmpty());
    clock_.advance(29min + 30s); // Half a minute late is on time.
    pass(1s);
    EXPECT_THAT(begun(), ElementsAre("s-2026-11-15T14:00:00Z"));
}

TEST_F(SchedulesTest, DoesAgainWhatACrashMayHaveCutShort) {
    put("s", hourly);
    actions_.is_holding = true;
    pass(1h);
    EXPECT_THAT(begun(), ElementsAre("s-2026-11-15T09:00:00Z"));

    actions_.is_holding = false;
    actions_.held.clear(); // The run has started, and nobody has heard of it.
    open();
    pass(1min);

    EXPECT_THAT(begun(), IsEmpty()) << "the same time is the same run";
    EXPECT_EQ(actions_.inputs.size(), 2U) << "but it was asked for again";
    open();
    pass(1min);
    EXPECT_EQ(actions_.inputs.size(), 2U) << "and now it is known";
}

TEST_F(SchedulesTest, DoesNothingTwiceWhenTheClockIsSetBack) {
    put("s", hourly);
    pass(1h + 30min);
    EXPECT_THAT(begun(), ElementsAre("s-2026-11-15T09:00:00Z"));
    clock_.now -= 1h;
    pass(1h);
    EXPECT_THAT(begun(), IsEmpty());
    pass(40min);
    EXPECT_THAT(begun(), ElementsAre("s-2026-11-15T10:00:00Z"));
}

TEST_F(SchedulesTest, NoticesAClockThatIsSetAhead) {
    put("s", hourly);
    pass(1min);
    clock_.now += 10h;
    pass(31s);
    EXPECT_THAT(begun(), ElementsAre("s-2026-11-15T18:00:00Z"));
}

TEST_F(SchedulesTest, WaitsForTheLastRunWhereItMustNotOverlap) {
    put("s", R"({"cron": "0 * * * *", "start": {"definition": "d"}, "overlap": "skip"})");
    pass(1h);
    actions_.running.insert("s-2026-11-15T09:00:00Z");
    pass(1h);
    EXPECT_THAT(begun(), ElementsAre("s-2026-11-15T09:00:00Z"));
    EXPECT_EQ(*state().find("skipped"), Value{1});
    actions_.running.clear();
    pass(1h);
    EXPECT_THAT(begun(), ElementsAre("s-2026-11-15T11:00:00Z"));
}

TEST_F(SchedulesTest, TriesAgainWhatMayPass) {
    put("s", hourly);
    actions_.error = Error{Errc::NoSpace, "no room"};
    pass(1h + 2s);
    EXPECT_EQ(*state().find("error"), Value{"no room"});
    actions_.error.reset();
    pass(5s);
    EXPECT_THAT(begun(), ElementsAre("s-2026-11-15T09:00:00Z"));
    EXPECT_EQ(*state().find("error"), Value{""});
}

TEST_F(SchedulesTest, GoesOnAfterWhatWillNot) {
    put("s", hourly);
    actions_.error = Error{Errc::NotFound, "there is no definition"};
    pass(1h);
    EXPECT_EQ(*state().find("failed"), Value{1});
    actions_.error.reset();
    pass(1h);
    EXPECT_THAT(begun(), ElementsAre("s-2026-11-15T10:00:00Z"));
}

TEST_F(SchedulesTest, PausesWithoutMakingUpForIt) {
    put("s", hourly);
    ASSERT_TRUE(schedules_->pause("default", "s"));
    open();
    pass(3h + 30min);
    EXPECT_THAT(begun(), IsEmpty());
    ASSERT_TRUE(schedules_->resume("default", "s"));
    pass(1h);
    EXPECT_THAT(begun(), ElementsAre("s-2026-11-15T12:00:00Z"));
    EXPECT_FALSE(schedules_->pause("default", "none"));
}

TEST_F(SchedulesTest, IsTriggeredByHand) {
    put("s", hourly);
    auto answer = Value{};
    schedules_->trigger("default", "s", [&](const Result<Value>& done) { answer = done.value(); });
    EXPECT_THAT(begun(), ElementsAre("s-2026-11-15T08:00:00Z"));
    EXPECT_EQ(*answer.find("run"), Value{"s-2026-11-15T08:00:00Z"});
    pass(1h);
    EXPECT_THAT(begun(), ElementsAre("s-2026-11-15T09:00:00Z"));
}

TEST_F(SchedulesTest, KeepsItsPlaceWhenItIsPutAgain) {
    put("s", hourly);
    clock_.advance(90min);
    put("s", R"({"cron": "0 * * * *", "start": {"definition": "other"}})");
    pass(1s);
    EXPECT_THAT(begun(), ElementsAre("s-2026-11-15T09:00:00Z"));
    clock_.advance(90min);
    put("s", R"({"cron": "30 * * * *", "start": {"definition": "d"}})");
    pass(1s);
    EXPECT_THAT(begun(), IsEmpty());
}

TEST_F(SchedulesTest, TellsTheNextTimesAndIsRemoved) {
    put("s", hourly);
    auto times = schedules_->next("default", "s", 2).value();
    EXPECT_THAT(times, ElementsAre(moment("2026-11-15T09:00:00Z"), moment("2026-11-15T10:00:00Z")));
    EXPECT_EQ(schedules_->list("default").size(), 1U);
    EXPECT_THAT(schedules_->list("other"), IsEmpty());

    ASSERT_TRUE(schedules_->remove("default", "s"));
    open();
    pass(2h);
    EXPECT_THAT(begun(), IsEmpty());
    EXPECT_FALSE(schedules_->view("default", "s"));
}

TEST_F(SchedulesTest, SaysWhatIsWrong) {
    EXPECT_THAT(mistake(R"({"cron": "@daily"})"), HasSubstr("expected start"));
    EXPECT_THAT(mistake(R"({"cron": "@daily", "start": {}})"), HasSubstr("start.definition"));
    EXPECT_THAT(mistake(R"({"cron": "@daily", "start": {"definition": "d", "x": 1}})"),
                HasSubstr("start.x"));
    EXPECT_THAT(
        mistake(R"({"cron": "@daily", "send": {"type": "t"}, "start": {"definition": "d"}})"),
        HasSubstr("expected start"));
    EXPECT_THAT(mistake(R"({"cron": "@daily", "start": {"definition": "d"}, "missed": "later"})"),
                HasSubstr("run_once"));
    EXPECT_THAT(mistake(R"({"cron": "@daily", "start": {"definition": "d"}, "overlap": 1})"),
                HasSubstr("overlap"));
    EXPECT_THAT(mistake(R"({"cron": "@daily", "start": {"definition": "d"}, "colour": 1})"),
                HasSubstr("schedule.colour"));
}

} // namespace
} // namespace sluice::server::intake
