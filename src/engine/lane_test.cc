#include "engine/lane.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/feed.h"
#include "engine/inspector.h"
#include "engine/quarantine.h"
#include "engine/testing/stepped_lane.h"

namespace sluice::engine {
namespace {

using trigger::Fate;

/// Shards whose lane is stepped by hand, fed from a numbered partition.
class LaneTest : public ::testing::Test {
protected:
    struct Heard {
        std::optional<Result<Receipt>> result;

        bool is_waiting() const { return !result; }
        std::vector<Fate> fates() const {
            return result && *result ? (*result)->fates : std::vector<Fate>{};
        }
        Errc error() const { return result->error().code; }
    };

    static event::Event event_of(const std::string& run, const std::string& id,
                                 const std::string& type) {
        return event::Builder{id, "test", type}.run(run).build();
    }

    /// Events of one type, with the numbers from `first` on; their ids are the numbers.
    std::shared_ptr<Heard> feed(const std::string& run, std::uint64_t first, std::size_t count,
                                const std::string& type = "item") {
        auto input = EventsInput{.shard = world_.shard_of_run(run),
                                 .space = "default",
                                 .events = {},
                                 .partition = "bus"};
        for (auto at = std::uint64_t{0}; at < count; ++at) {
            input.events.push_back(event_of(run, std::to_string(first + at), type));
            input.numbers.push_back(first + at);
        }
        return take(std::move(input));
    }

    std::shared_ptr<Heard> send(const std::string& run, const std::string& id,
                                const std::string& type) {
        auto input = EventsInput{.shard = world_.shard_of_run(run), .space = "default"};
        input.events.push_back(event_of(run, id, type));
        return take(std::move(input));
    }

    std::shared_ptr<Heard> take(EventsInput&& input) {
        auto heard = std::make_shared<Heard>();
        input.done = [heard](Result<Receipt> receipt) { heard->result = std::move(receipt); };
        world_.take(std::move(input));
        return heard;
    }

    std::unique_ptr<trigger::RunState> state_of(const std::string& run) {
        return Inspector{world_.store(), world_.vocabulary()}.run({.id = run}).value();
    }

    std::vector<std::uint64_t> positions() { return positions_of(world_.store(), "bus").value(); }
    std::uint64_t position_of(const std::string& run) {
        return positions()[world_.shard_of_run(run).raw()];
    }

    /// A run that parks items until it is told to open, and keeps two of them.
    void start_parking(const std::string& full) {
        world_.define(R"({"name":"parks","dedupe":"none","kept":{"max":2,"full":")" + full +
                      R"("},"triggers":[
            {"id":"items","on":"item","enabled":false,"lifetime":"persistent"},
            {"id":"gate","on":"open","lifetime":"persistent","action":{"enable":"items"}}]})");
        world_.start("r", "parks");
    }

    testing::SteppedLane world_;
};

TEST_F(LaneTest, AQuestionIsAnsweredWhileTheDiskIsFull) {
    start_parking("refuse");
    world_.store().set_full(true);
    auto answer = std::optional<Result<Value>>{};

    world_.take(QueryInput{.run = {.id = "r"},
                           .read = [](const trigger::RunState* state) -> Result<Value> {
                               return Value{state != nullptr};
                           },
                           .done = [&](Result<Value> found) { answer = std::move(found); }});

    ASSERT_TRUE(answer);
    EXPECT_EQ(*answer, Value{true});
    EXPECT_FALSE(world_.lane().has_stopped());
}

TEST_F(LaneTest, FewRunsThatHaveEndedStayAwake) {
    world_.define(
        R"({"name":"short","triggers":[{"id":"end","on":"sluice.run.started","action":{"finish":{}}}]})");
    world_.define(R"({"name":"long","triggers":[{"id":"never","on":"x"}]})");
    constexpr auto runs = 20'000;
    for (auto at = 0; at < runs; ++at) {
        world_.start(fmt::format("short-{}", at), "short");
    }
    EXPECT_LT(world_.lane().stats().awake_runs, runs / 2);
    for (auto at = 0; at < 3'000; ++at) {
        world_.start(fmt::format("long-{}", at), "long");
    }
    EXPECT_GE(world_.lane().stats().awake_runs, 3'000U);
}

TEST_F(LaneTest, AQuestionWritesNothing) {
    start_parking("refuse");
    auto writes = world_.store().writes();

    world_.take(
        QueryInput{.run = {.id = "nobody"},
                   .read = [](const trigger::RunState*) -> Result<Value> { return Value{}; },
                   .done = [](Result<Value>) {}});

    EXPECT_EQ(world_.store().writes(), writes);
}

TEST_F(LaneTest, TheStreamGoesOnAtWhatAFullDiskRefused) {
    start_parking("fail");
    send("r", "1", "open");
    world_.store().set_full(true);
    auto refused = feed("r", 1, 1);
    world_.store().set_full(false);
    auto behind = feed("r", 2, 1);

    ASSERT_FALSE(refused->is_waiting());
    EXPECT_EQ(refused->error(), Errc::NoSpace);
    EXPECT_EQ(behind->error(), Errc::Unavailable);
    EXPECT_EQ(position_of("r"), 0U);

    auto again = feed("r", 1, 2);

    EXPECT_EQ(again->fates(), (std::vector{Fate::Fired, Fate::Fired}));
    EXPECT_EQ(position_of("r"), 2U);
}

TEST_F(LaneTest, ADirectSenderHearsThatARunRefusesOrIsBusy) {
    for (const auto& [full, fate] : {std::pair{"refuse", Fate::Refused},
                                     {"back-pressure", Fate::Busy},
                                     {"fail", Fate::Failed}}) {
        world_.reset();
        start_parking(full);
        send("r", "1", "item");
        send("r", "2", "item");

        auto third = send("r", "3", "item");

        EXPECT_EQ(third->fates(), std::vector{fate}) << full;
        EXPECT_EQ(state_of("r")->has_ended(), fate == Fate::Failed) << full;
    }
}

TEST_F(LaneTest, AStreamStopsAtARunThatRefuses) {
    start_parking("refuse");

    auto heard = feed("r", 1, 4);
    auto behind = feed("r", 5, 1);

    ASSERT_FALSE(heard->is_waiting());
    EXPECT_EQ(heard->error(), Errc::Unavailable);
    EXPECT_EQ(behind->error(), Errc::Unavailable);
    EXPECT_EQ(position_of("r"), 2U);
}

TEST_F(LaneTest, BackPressureHoldsThePartitionUntilThereIsRoom) {
    start_parking("back-pressure");

    auto first = feed("r", 1, 4);
    auto second = feed("r", 5, 1);

    EXPECT_TRUE(first->is_waiting());
    EXPECT_TRUE(second->is_waiting());
    EXPECT_EQ(position_of("r"), 2U);
    EXPECT_EQ(state_of("r")->kept.size(), 2U);

    send("r", "now", "open");

    EXPECT_FALSE(first->is_waiting());
    EXPECT_EQ(first->fates(),
              (std::vector{Fate::Duplicate, Fate::Duplicate, Fate::Fired, Fate::Fired}));
    EXPECT_EQ(second->fates(), std::vector{Fate::Fired});
    EXPECT_EQ(position_of("r"), 5U);
    EXPECT_EQ(state_of("r")->find_trigger(trigger::root_scope, trigger::TriggerNumber{0})->fired,
              5U);
}

TEST_F(LaneTest, OtherPartitionsFlowWhileOneIsHeld) {
    start_parking("back-pressure");
    auto held = feed("r", 1, 3);
    world_.define(
        R"({"name":"any","triggers":[{"id":"any","on":"item","lifetime":"persistent"}]})");
    world_.start("other", "any");

    auto input = EventsInput{.shard = world_.shard_of_run("other"),
                             .space = "default",
                             .events = {event_of("other", "x", "item")},
                             .partition = "another bus",
                             .numbers = {1}};
    auto flowing = take(std::move(input));

    EXPECT_TRUE(held->is_waiting());
    EXPECT_EQ(flowing->fates(), std::vector{Fate::Fired});
}

TEST_F(LaneTest, ARunThatEndsLetsItsPartitionGo) {
    start_parking("back-pressure");
    auto held = feed("r", 1, 3);

    world_.take(CommandInput{.run = {.id = "r"}, .type = "sluice.run.terminate", .data = {}});

    EXPECT_EQ(held->fates(), (std::vector{Fate::Duplicate, Fate::Duplicate, Fate::Late}));
}

TEST_F(LaneTest, WhatWaitsForRoomIsGivenBackWhenNobodyFeedsIt) {
    start_parking("back-pressure");
    auto held = feed("r", 1, 3);

    world_.take(LeaveInput{.shard = world_.shard_of_run("r"), .partition = "bus"});

    ASSERT_FALSE(held->is_waiting());
    EXPECT_EQ(held->error(), Errc::Unavailable);
    send("r", "now", "open");
    EXPECT_EQ(position_of("r"), 2U);
    EXPECT_EQ(feed("r", 3, 1)->fates(), std::vector{Fate::Fired}) << "and is taken when fed again";
}

TEST_F(LaneTest, WhatWaitsForRoomIsGivenBackWhenTheLaneStops) {
    start_parking("back-pressure");
    auto held = feed("r", 1, 3);

    world_.lane().drain();

    auto after = feed("r", 3, 1);

    ASSERT_FALSE(held->is_waiting());
    EXPECT_EQ(held->error(), Errc::Unavailable);
    ASSERT_FALSE(after->is_waiting());
    EXPECT_EQ(after->error(), Errc::Unavailable);
}

TEST_F(LaneTest, WhatARunSendsItselfFailsItBeyondTheBound) {
    world_.define(R"({"name":"hoards","kept":{"max":2},"triggers":[
        {"id":"begin","on":"go","action":{"emit":{"type":"loose","each":3}}}]})");
    world_.start("r", "hoards");

    send("r", "1", "go");

    auto state = state_of("r");
    EXPECT_EQ(state->progress.status, trigger::Status::Failed);
    EXPECT_EQ(*state->progress.error.find("kind"), Value{"kept_full"});
}

TEST_F(LaneTest, WhatAnotherRunHasNoRoomForComesBackToItsSender) {
    start_parking("refuse");
    world_.define(R"({"name":"sender","triggers":[
        {"id":"begin","on":"go","action":{"emit":{"type":"item","each":3,"data":"${index}","to":{"run":"r"}}}},
        {"id":"back","on":{"type":"sluice.delivery.failed","subject":"r"},
         "action":{"finish":{"result":{"data":"${data.event.data}","why":"${data.error.kind}"}}}}]})");
    world_.start("s", "sender");

    send("s", "1", "go");

    EXPECT_EQ(state_of("r")->kept.size(), 2U);
    EXPECT_EQ(value::to_json(state_of("s")->progress.result), R"({"data":2,"why":"kept_full"})");
    auto report =
        replay(*std::make_unique<Inspector>(world_.store(), world_.vocabulary()), {.id = "s"}, {});
    EXPECT_EQ(report.value().difference_count, 0U);
}

TEST_F(LaneTest, WhatIsSentToNoRunComesBackToItsSender) {
    world_.define(R"({"name":"sender","triggers":[
        {"id":"begin","on":"go","action":{"emit":{"type":"item","to":{"run":"nobody"}}}},
        {"id":"back","on":"sluice.delivery.failed","action":{"finish":{"result":"${data.error.kind}"}}}]})");
    world_.start("s", "sender");

    send("s", "1", "go");

    EXPECT_EQ(state_of("s")->progress.result, Value{"no_such_run"});
}

TEST_F(LaneTest, AnEventForNoRunIsToldToItsSender) {
    EXPECT_EQ(send("nobody", "1", "item")->fates(), std::vector{Fate::NoSuchRun});
    EXPECT_TRUE(read_quarantine(world_.store(), 10).value().empty());
}

TEST_F(LaneTest, ANumberedEventForNoRunIsQuarantined) {
    auto heard = feed("nobody", 7, 2);
    feed("nobody", 7, 2);
    world_.restart();
    feed("nobody", 7, 2);

    auto found = read_quarantine(world_.store(), 10).value();
    EXPECT_EQ(heard->fates(), (std::vector{Fate::NoSuchRun, Fate::NoSuchRun}));
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].run, "nobody");
    EXPECT_EQ(found[0].partition, "bus");
    EXPECT_EQ(found[1].number, 8U);
    EXPECT_EQ(found[1].json, event_of("nobody", "8", "item").json());
    EXPECT_EQ(world_.lane().stats().quarantined, 0U) << "counted with the next commit";
    EXPECT_EQ(world_.diagnostics().lines().front(),
              "warn: events that no run was there for were set aside partition=bus events=2");
}

TEST_F(LaneTest, AFullQuarantineStopsTheSource) {
    feed("nobody", 1, quarantine_events_max);

    auto heard = feed("nobody", quarantine_events_max + 1, 1);

    EXPECT_EQ(heard->error(), Errc::LimitExceeded);
    EXPECT_EQ(position_of("nobody"), quarantine_events_max);
}

TEST_F(LaneTest, AShardThatNothingWasForIsMovedAlong) {
    for (auto shard = std::uint16_t{0}; shard < world_.store().shard_count(); ++shard) {
        world_.take(MoveInput{.shard = ShardId{shard}, .partition = "bus", .number = 9});
    }

    EXPECT_EQ(positions(), (std::vector<std::uint64_t>{9, 9, 9, 9}));
}

TEST_F(LaneTest, AShardThatWaitsIsNotMovedAlong) {
    start_parking("back-pressure");
    feed("r", 1, 3);

    world_.take(MoveInput{.shard = world_.shard_of_run("r"), .partition = "bus", .number = 9});

    EXPECT_EQ(position_of("r"), 2U);
}

TEST_F(LaneTest, AReplyReachesTheRunThatSentTheEvent) {
    world_.define(R"({"name":"answers","triggers":[
        {"id":"later","on":"ask","enabled":false,"lifetime":"persistent","action":{"reply":"${data + 1}"}},
        {"id":"wake","on":"wake","action":{"enable":"later"}}]})");
    world_.start("r", "answers");
    world_.define(R"({"name":"asks","triggers":[
        {"id":"begin","on":"go","action":[{"open":"desk"},{"emit":{"type":"begun","scope":"desk"}}]},
        {"id":"ask","on":"begun","action":[
            "hold",{"emit":{"type":"ask","subject":"s","data":41,"to":{"run":"r"}}}]},
        {"id":"told","on":{"type":"sluice.reply","subject":"r"},
         "action":{"finish":{"result":{"scope":"${scope.path}","told":"${data}"}}}}]})");
    world_.start("s", "asks");

    send("s", "1", "go");
    auto wake = send("r", "2", "wake");

    EXPECT_EQ(
        value::to_json(state_of("s")->progress.result),
        R"({"scope":"desk","told":{"run":"r","event":{"id":"2/0","type":"ask","subject":"s"},)"
        R"("reply":42}})");
    EXPECT_EQ((**wake->result).reply_to(0), nullptr);
    auto inspector = Inspector{world_.store(), world_.vocabulary()};
    for (const auto* id : {"r", "s"}) {
        EXPECT_EQ(replay(inspector, {.id = id}, {}).value().difference_count, 0U) << id;
    }
}

TEST_F(LaneTest, AReplyIsLateWhereItsScopeIsClosed) {
    world_.define(R"({"name":"answers","triggers":[
        {"id":"later","on":"ask","enabled":false,"action":{"reply":"${data}"}},
        {"id":"wake","on":"wake","action":{"enable":"later"}}]})");
    world_.start("r", "answers");
    world_.define(R"({"name":"asks","triggers":[
        {"id":"begin","on":"go","action":{"emit":{"type":"begun","scope":"desk"}}},
        {"id":"ask","on":"begun","action":{"emit":{"type":"ask","data":1,"to":{"run":"r"}}}},
        {"id":"leave","on":"leave","action":{"close":"desk"}},
        {"id":"told","on":"sluice.reply","action":"finish"}]})");
    world_.start("s", "asks");

    send("s", "1", "go");
    send("s", "2", "leave");
    send("r", "3", "wake");

    EXPECT_EQ(state_of("s")->progress.status, trigger::Status::Running);
}

TEST_F(LaneTest, AReplyReachesTheSenderOfItsEvent) {
    world_.define(R"({"name":"answers","triggers":[
        {"id":"ask","on":"ask","lifetime":"persistent","action":{"reply":"${event.id}"}},
        {"id":"late","on":"later","enabled":false,"action":{"reply":"too late"}},
        {"id":"wake","on":"wake","action":[{"enable":"late"},{"emit":"ask"}]}]})");
    world_.start("r", "answers");
    auto input = EventsInput{.shard = world_.shard_of_run("r"), .space = "default"};
    for (const auto* id : {"a", "b"}) {
        input.events.push_back(event_of("r", id, "ask"));
    }
    input.events.push_back(event_of("r", "c", "later"));

    auto heard = take(std::move(input));
    auto wake = send("r", "d", "wake");

    const auto& receipt = **heard->result;
    EXPECT_EQ(*receipt.reply_to(0), Value{"a"});
    EXPECT_EQ(*receipt.reply_to(1), Value{"b"});
    EXPECT_EQ(receipt.reply_to(2), nullptr) << "it was parked, and its sender heard so";
    EXPECT_EQ((**wake->result).reply_to(0), nullptr)
        << "what a parked or an own event is answered is not for whoever woke it";
}

TEST_F(LaneTest, WhoWasRefusedForAShardThatIsAnothersMayAskAgain) {
    start_parking("refuse");
    ASSERT_TRUE(world_.store().acquire(std::vector{world_.shard_of_run("r")}));
    auto heard = send("r", "1", "item");

    ASSERT_TRUE(world_.lost());
    EXPECT_EQ(world_.lost()->code, Errc::Stale);
    ASSERT_FALSE(heard->is_waiting());
    EXPECT_EQ(heard->error(), Errc::Unavailable);
}

TEST_F(LaneTest, WhereOtherShardsMayHaveBeenTakenTheOutcomeIsUnknown) {
    world_.reset(store::Atomicity::Shard);
    start_parking("refuse");
    ASSERT_TRUE(world_.store().acquire(std::vector{world_.shard_of_run("r")}));
    auto heard = send("r", "1", "item");

    ASSERT_TRUE(world_.lost());
    ASSERT_FALSE(heard->is_waiting());
    EXPECT_EQ(heard->error(), Errc::Io);
}

} // namespace
} // namespace sluice::engine
