#include <algorithm>
#include <future>

#include <gtest/gtest.h>

#include "engine/feed.h"
#include "engine/run_records.h"
#include "engine/testing/engine_fixture.h"
#include "event/codec.h"

namespace sluice::engine {
namespace {

/// A numbered source with everything in memory, which notes how it was read.
class ListSource final : public event::Source {
public:
    explicit ListSource(std::vector<event::Event> events, std::size_t events_per_chunk = 2)
        : events_(std::move(events)), events_per_chunk_(events_per_chunk) {}

    std::string_view name() const override { return "list"; }
    Result<void> resume(std::string_view /*partition*/, std::uint64_t position) override {
        resumed_at = position;
        next_ = position;
        return {};
    }
    Result<event::Chunk> read(std::size_t /*bytes_max*/) override {
        auto bytes = std::string{};
        auto first = next_ + 1;
        for (auto at = std::size_t{0}; at < events_per_chunk_ && next_ < events_.size(); ++at) {
            bytes += std::string{events_[next_++].json()} + "\n";
        }
        auto size = bytes.size();
        bytes.append(event::Codec::padding_bytes, '\0');
        return event::Chunk{.partition = "list",
                            .first = first,
                            .bytes = std::make_shared<const std::string>(std::move(bytes)),
                            .size = size};
    }
    void pass_over(std::string_view /*partition*/, std::uint64_t number) override {
        passed_over.push_back(number);
    }
    void confirm(std::string_view /*partition*/, std::uint64_t position) override {
        confirmed = position;
    }

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

    std::uint64_t fired(const std::string& run) {
        auto found = testing::wait_for<Value>([&](auto done) {
            auto read = [](const trigger::RunState* state) -> Result<Value> {
                return Value{static_cast<std::int64_t>(state->progress.fires)};
            };
            engine_->query({.id = run}, read, std::move(done));
        });
        return static_cast<std::uint64_t>(found->as_int());
    }
};

TEST_F(SourceFeedTest, GoesOnBehindTheLastEventOfAnyShard) {
    start("r1", "counts");
    auto first = ListSource{items({"r1", "r1", "r1"})};
    EXPECT_EQ(engine_->feed(first, "default"), 3U);
    EXPECT_EQ(first.confirmed, 3U);
    engine_.reset();
    open();

    auto longer = ListSource{items({"r1", "r1", "r1", "r1"})};
    auto count = engine_->feed(longer, "default");

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
    auto count = engine_->feed(source, "default");

    EXPECT_EQ(source.resumed_at, 0U);
    EXPECT_EQ(source.passed_over, (std::vector<std::uint64_t>{1, 2}));
    EXPECT_EQ(count, 1U);
    EXPECT_EQ(fired("r1"), 1U);
}

TEST_F(SourceFeedTest, TellsEveryShardNowAndThenHowFarItIs) {
    start("r1", "counts");
    auto runs = std::vector<std::string>(64, "r1");
    runs.emplace_back("not a run id");

    auto source = ListSource{items(runs), 1};
    auto fed = engine_->feed(source, "default");
    engine_.reset();
    auto positions = positions_of(store_, "list").value();

    ASSERT_FALSE(fed) << "it stops at an event that names no run, without telling its end";
    EXPECT_EQ(*std::ranges::min_element(positions), 64U);
}

TEST_F(SourceFeedTest, WaitsForARunToHaveRoom) {
    start("r1", "parks");
    auto source = ListSource{items({"r1", "r1", "r1", "r1", "r1"})};
    auto fed = std::async(std::launch::async, [&] { return engine_->feed(source, "default"); });

    // The third event is under way or waits; either way all of them come.
    send("r1", {"now"}, "open");

    EXPECT_EQ(fed.get(), 5U);
    EXPECT_EQ(*wait_end("r1").find("status"), Value{"succeeded"});
    expect_replays("r1");
}

TEST_F(SourceFeedTest, StopsWaitingWhenItIsAskedTo) {
    start("r1", "parks");
    auto source = ListSource{items({"r1", "r1", "r1"})};
    auto stop = std::stop_source{};
    auto fed = std::async(std::launch::async,
                          [&] { return engine_->feed(source, "default", stop.get_token()); });

    stop.request_stop();

    EXPECT_FALSE(fed.get());
    auto again = ListSource{items({"r1", "r1", "r1"})};
    send("r1", {"now"}, "open");
    EXPECT_TRUE(engine_->feed(again, "default"));
    EXPECT_EQ(send("r1", {"4th"}, "item"), std::vector{trigger::Fate::Activated});
    EXPECT_EQ(send("r1", {"5th"}, "item"), std::vector{trigger::Fate::Fired});
}

} // namespace
} // namespace sluice::engine
