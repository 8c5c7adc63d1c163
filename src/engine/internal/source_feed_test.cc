#include <algorithm>
#include <future>
#include <limits>
#include <thread>

#include <gtest/gtest.h>

#include "engine/feed.h"
#include "engine/keys.h"
#include "engine/quarantine.h"
#include "engine/run_records.h"
#include "engine/testing/engine_fixture.h"
#include "event/message.h"
#include "trigger/testing/packed_text.h"

namespace sluice::engine {
namespace {

/// A numbered source with everything in memory, which notes how it was read.
class ListSource final : public event::Source {
public:
    explicit ListSource(std::vector<event::Event> events, std::size_t events_per_chunk = 2)
        : events_(std::move(events)), events_per_chunk_(events_per_chunk) {}

    std::string_view name() const override { return "list"; }
    Result<std::vector<std::string>> partitions() override {
        return is_found_late ? std::vector<std::string>{} : std::vector<std::string>{"list"};
    }
    Result<void> resume(std::string_view /*partition*/, std::uint64_t position) override {
        resumed_at = position;
        next_ = position < before ? 0 : position - before;
        return {};
    }
    Result<event::Chunk> read(std::size_t /*bytes_max*/, Nanos /*wait*/) override {
        auto gathered = event::ChunkBuilder{};
        for (auto at = std::size_t{0}; at < events_per_chunk_ && next_ < events_.size(); ++at) {
            auto body = events_[next_++].json();
            gathered.add(before + next_, {.content_type = {}, .attributes = {}, .body = body});
        }
        auto chunk = gathered.take("list", is_numbered);
        if (is_packed && !chunk.records.empty()) {
            auto size = chunk.records.back().begin + chunk.records.back().size;
            chunk.packed =
                trigger::testing::packed_text(chunk.bytes, size, chunk.records.size() + left_out);
        }
        chunk.is_last = next_ == events_.size();
        return chunk;
    }
    void pass_over(std::string_view /*partition*/, std::uint64_t number) override {
        passed_over.push_back(number);
    }
    void confirm(std::string_view /*partition*/, std::uint64_t position) override {
        confirmed = position;
    }

    bool is_numbered = true;
    bool is_packed = false;     ///< Chunks tell what they were unpacked from.
    std::uint64_t left_out = 0; ///< More events lie there.
    bool is_found_late = false; ///< It is not told of before it is read.
    std::uint64_t before = 0;   ///< Number of what lies before the first.
    std::uint64_t resumed_at = 99;
    std::uint64_t confirmed = 0;
    std::vector<std::uint64_t> passed_over;

private:
    std::vector<event::Event> events_;
    std::size_t events_per_chunk_;
    std::uint64_t next_ = 0;
};

class SourceFeedTest : public testing::EngineFixture {
protected:
    void SetUp() override {
        EngineFixture::SetUp();
        define("counts", R"({"name":"counts","dedupe":"none","triggers":[
            {"id":"item","on":"item","lifetime":"persistent"}]})");
        define("parks", R"({"name":"parks","kept":{"max":2,"full":"back-pressure"},"triggers":[
            {"id":"items","on":"item","enabled":false,"condition":{"count":5},"action":"finish"},
            {"id":"gate","on":"open","action":{"enable":"items"}}]})");
    }

    static std::vector<event::Event> items(const std::vector<std::string>& runs) {
        auto events = std::vector<event::Event>{};
        for (const auto& run : runs) {
            auto id = std::to_string(events.size() + 1);
            events.push_back(event::Builder{id, "test", "item"}.run(run).build());
        }
        return events;
    }

    std::uint64_t ask(const std::string& run, std::uint64_t (*of)(const trigger::RunState&)) {
        auto found = testing::wait_for<Value>([&](auto done) {
            auto read = [of](const trigger::RunState* state) -> Result<Value> {
                return Value{static_cast<std::int64_t>(of(*state))};
            };
            engine_->query({.id = run}, read, std::move(done));
        });
        return static_cast<std::uint64_t>(found->as_int());
    }
    std::uint64_t fired(const std::string& run) {
        return ask(run, [](const trigger::RunState& state) { return state.progress.fires; });
    }
    static constexpr auto format_with_texts = '\5'; ///< docs/formats/history.md
    /// Records of a run's history that keep text as it came.
    std::size_t records_with_texts(const std::string& run) {
        auto name = RunName{.space = "default", .id = run};
        auto shard = shard_of(name, store_.shard_count());
        auto cursor =
            store_.scan(keys::history(shard, name, 0),
                        keys::history(shard, name, std::numeric_limits<std::uint64_t>::max()));
        auto count = std::size_t{0};
        for (; cursor->is_valid(); cursor->next()) {
            count += cursor->value().front() == format_with_texts ? 1 : 0;
        }
        return count;
    }
    std::uint64_t kept(const std::string& run) {
        return ask(run, [](const trigger::RunState& state) { return state.kept.size(); });
    }
};

TEST_F(SourceFeedTest, GoesOnBehindTheLastEventOfAnyShard) {
    start("r1", "counts");
    auto first = ListSource{items({"r1", "r1", "r1"})};
    EXPECT_EQ(engine_->feed(first, {}), 3U);
    EXPECT_EQ(first.confirmed, 3U);
    engine_.reset();
    open();

    auto longer = ListSource{items({"r1", "r1", "r1", "r1"})};
    auto count = engine_->feed(longer, {});

    EXPECT_EQ(longer.resumed_at, 3U) << "though the other shards have had none of it";
    EXPECT_EQ(count, 1U);
    EXPECT_EQ(fired("r1"), 4U);
}

TEST_F(SourceFeedTest, LeavesOutWhatAShardHasTaken) {
    start("r1", "counts");
    // As when the process died before the other shards were told how far the partition is.
    auto shard = shard_of(RunName{.id = "r1"}, store_.shard_count());
    engine_.reset();
    auto batch = store_.make_batch();
    batch->put(keys::position(shard, "list"), number_record(2));
    ASSERT_TRUE(store_.commit(*batch));
    open();

    auto source = ListSource{items({"r1", "r1", "r1"})};
    auto count = engine_->feed(source, {});

    EXPECT_EQ(source.resumed_at, 0U);
    EXPECT_EQ(source.passed_over, (std::vector<std::uint64_t>{1, 2}));
    EXPECT_EQ(count, 1U);
    EXPECT_EQ(fired("r1"), 1U);
}

/// Fails behind its last event, as a broker that is gone for good.
class BrokenSource final : public event::Source {
public:
    explicit BrokenSource(event::Source& inner) : inner_(inner) {}

    std::string_view name() const override { return inner_.name(); }
    Result<std::vector<std::string>> partitions() override { return inner_.partitions(); }
    Result<void> resume(std::string_view partition, std::uint64_t position) override {
        return inner_.resume(partition, position);
    }
    Result<event::Chunk> read(std::size_t bytes_max, Nanos wait) override {
        auto chunk = TRY(inner_.read(bytes_max, wait));
        if (chunk.records.empty()) {
            return fail(Errc::Unavailable, "gone");
        }
        chunk.is_last = false;
        return chunk;
    }
    void confirm(std::string_view partition, std::uint64_t position) override {
        inner_.confirm(partition, position);
    }

private:
    event::Source& inner_;
};

TEST_F(SourceFeedTest, TellsEveryShardNowAndThenHowFarItIs) {
    start("r1", "counts");
    auto list = ListSource{items(std::vector<std::string>(64, "r1")), 1};
    auto source = BrokenSource{list};
    auto fed = engine_->feed(source, {});
    engine_.reset();
    auto positions = positions_of(store_, "list").value();

    ASSERT_FALSE(fed) << "it stops without telling its end";
    EXPECT_EQ(*std::ranges::min_element(positions), 64U);
}

TEST_F(SourceFeedTest, SetsAsideWhatIsNoEventAndGoesOn) {
    start("r1", "counts");
    auto events = items({"r1", "not a run id", "r1"});
    events.push_back(event::Builder{"4", "test", "sluice.timer.fired"}.run("r1").build());
    events.push_back(event::Builder{"5", "test", "item"}.build());
    events.push_back(event::Builder{"6", "test", "item"}.run("r1").build());
    auto source = ListSource{events};
    EXPECT_EQ(engine_->feed(source, {}), 6U);
    EXPECT_EQ(fired("r1"), 3U);

    auto aside = read_quarantine(store_, 10).value();
    ASSERT_EQ(aside.size(), 3U);
    EXPECT_EQ(aside[0].number, 2U);
    EXPECT_NE(reason_of(aside[0]).find("cannot be a run's id"), std::string::npos);
    EXPECT_NE(reason_of(aside[1]).find("come from the engine alone"), std::string::npos);
    EXPECT_NE(reason_of(aside[2]).find("names no run"), std::string::npos);
    EXPECT_EQ(source.confirmed, 6U);
}

TEST_F(SourceFeedTest, CountsAnewWhereASourceHasNoPositions) {
    start("r1", "counts");
    for (auto times = 1U; times <= 2; ++times) {
        auto source = ListSource{items({"r1", "r1", "nobody"})};
        source.is_numbered = false;
        EXPECT_EQ(engine_->feed(source, {}), 3U);
        EXPECT_EQ(source.resumed_at, 0U);
        EXPECT_EQ(source.confirmed, 3U);
        EXPECT_EQ(fired("r1"), 2U * times);
        EXPECT_EQ(read_quarantine(store_, 10)->size(), times);
    }
}

TEST_F(SourceFeedTest, TakesUpAPartitionThatComesUpLate) {
    start("r1", "counts");
    auto first = ListSource{items({"r1", "r1"})};
    EXPECT_EQ(engine_->feed(first, {}), 2U);

    auto longer = ListSource{items({"r1", "r1", "r1", "r1"})};
    longer.is_found_late = true;
    EXPECT_EQ(engine_->feed(longer, {}), 2U);
    EXPECT_EQ(longer.resumed_at, 2U);
    EXPECT_EQ(fired("r1"), 4U);
}

TEST_F(SourceFeedTest, ANewPartitionThatComesUpLateIsNotBegunAnew) {
    start("r1", "counts");
    auto source = ListSource{items({"r1", "r1", "r1"})};
    source.is_found_late = true;

    EXPECT_EQ(engine_->feed(source, {}), 3U);

    EXPECT_EQ(source.resumed_at, 99U) << "its source may begin with what is new, and that was it";
    EXPECT_EQ(fired("r1"), 3U);
}

TEST_F(SourceFeedTest, EveryShardKeepsWhereAPartitionBegan) {
    start("r1", "counts");
    auto list = ListSource{items({"r1", "r1"})};
    list.before = 700;
    auto source = BrokenSource{list};
    ASSERT_FALSE(engine_->feed(source, {})) << "it stops without telling its end";
    auto positions = positions_of(store_, "list").value();

    EXPECT_GE(*std::ranges::min_element(positions), 700U);

    auto longer = ListSource{items({"r1", "r1", "r1"})};
    longer.before = 700;
    ASSERT_TRUE(engine_->feed(longer, {}));
    EXPECT_GE(longer.resumed_at, 700U);
    EXPECT_EQ(fired("r1"), 3U);
}

TEST_F(SourceFeedTest, ConfirmsNothingThatAShardWouldAskForAgain) {
    start("r1", "counts");
    auto list = ListSource{items({"r1", "r1"})};
    auto source = BrokenSource{list};
    ASSERT_FALSE(engine_->feed(source, {})) << "the other shards were not told of them";

    EXPECT_EQ(list.confirmed, 0U);
}

TEST_F(SourceFeedTest, SendsAnEventToEachRunThatItsRouteNames) {
    start("r1", "counts");
    start("r2", "counts");
    auto events = std::vector<event::Event>{};
    for (const auto* id : {"1", "2"}) {
        events.push_back(event::Builder{id, "test", "item"}.build());
    }
    auto route = [](const event::Event& event) -> Result<std::vector<event::Event>> {
        auto to = [&](std::string_view run) {
            return event::Builder{event.id(), event.source(), event.type()}.run(run).build();
        };
        return std::vector{to("r1"), to("r2"), to("r1")};
    };
    auto source = ListSource{events};
    EXPECT_EQ(engine_->feed(source, {.route = route}), 6U);
    EXPECT_EQ(fired("r1"), 4U);
    EXPECT_EQ(fired("r2"), 2U);
    auto again = ListSource{events};
    EXPECT_EQ(engine_->feed(again, {.route = route}), 0U);
}

TEST_F(SourceFeedTest, WaitsForARunToHaveRoom) {
    start("r1", "parks");
    auto source = ListSource{items({"r1", "r1", "r1", "r1", "r1"})};
    auto fed = std::async(std::launch::async, [&] { return engine_->feed(source, {}); });

    // The third event is under way or waits; either way all of them come.
    send("r1", {"now"}, "open");

    EXPECT_EQ(fed.get(), 5U);
    EXPECT_EQ(*wait_end("r1").find("status"), Value{"succeeded"});
    expect_replays("r1");
}

TEST_F(SourceFeedTest, TextStaysAsItCamePackedWhereItIsOfOneRun) {
    start("r1", "counts");
    start("r2", "counts");
    auto events = items({"r1", "r1", "r1", "r1", "r2", "r1"});
    auto source = ListSource{events, 2};
    source.is_packed = true;

    EXPECT_EQ(engine_->feed(source, {}), 6U);

    EXPECT_GT(records_with_texts("r1"), 0U);
    EXPECT_EQ(records_with_texts("r2"), 0U) << "its event lies among others";
    expect_replays("r1");
    expect_replays("r2");
    engine_.reset();
    open();
    expect_replays("r1");
}

TEST_F(SourceFeedTest, TextThatIsNotGivenWholeIsNotKept) {
    start("r1", "counts");
    auto source = ListSource{items({"r1", "r1", "r1", "r1"}), 2};
    source.is_packed = true;
    source.left_out = 1;

    EXPECT_EQ(engine_->feed(source, {}), 4U);

    EXPECT_EQ(records_with_texts("r1"), 0U);
    expect_replays("r1");
}

TEST_F(SourceFeedTest, WhatWaitsForARunToHaveRoomLetsGoOfItsText) {
    start("r1", "parks");
    auto source = ListSource{items({"r1", "r1", "r1", "r1", "r1"}), 5};
    source.is_packed = true;
    auto fed = std::async(std::launch::async, [&] { return engine_->feed(source, {}); });

    send("r1", {"now"}, "open");

    EXPECT_EQ(fed.get(), 5U);
    EXPECT_EQ(*wait_end("r1").find("status"), Value{"succeeded"});
    expect_replays("r1");
}

TEST_F(SourceFeedTest, StopsWaitingWhenItIsAskedTo) {
    start("r1", "parks");
    auto source = ListSource{items({"r1", "r1", "r1"}), 3};
    auto stop = std::stop_source{};
    auto fed =
        std::async(std::launch::async, [&] { return engine_->feed(source, {}, stop.get_token()); });

    while (kept("r1") < 2) { // The third waits then.
        std::this_thread::yield();
    }
    stop.request_stop();

    EXPECT_FALSE(fed.get());
    auto again = ListSource{items({"r1", "r1", "r1"})};
    send("r1", {"now"}, "open");
    EXPECT_TRUE(engine_->feed(again, {}));
    EXPECT_EQ(send("r1", {"4th"}, "item"), std::vector{trigger::Fate::Activated});
    EXPECT_EQ(send("r1", {"5th"}, "item"), std::vector{trigger::Fate::Fired});
}

} // namespace
} // namespace sluice::engine
