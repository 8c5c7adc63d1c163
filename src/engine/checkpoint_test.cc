#include "engine/checkpoint.h"

#include <gtest/gtest.h>

#include "engine/inspector.h"
#include "engine/shard.h"
#include "event/builder.h"
#include "store/memory/memory_store.h"
#include "trigger/apply.h"
#include "trigger/testing/state_bytes.h"
#include "value/json.h"

namespace sluice::engine {
namespace {

class PassingClock final : public Clock {
public:
    Time wall() const override { return Time{std::chrono::hours{1'000'000}} + passed; }
    Nanos steady() const override { return passed; }

    Nanos passed{0};
};

/// One shard, stepped by hand: every delivery is a commit of its own.
class CheckpointTest : public ::testing::Test {
protected:
    void SetUp() override { open(); }

    void open(std::uint64_t checkpoint_events = 10) {
        shard_ = std::make_unique<Shard>(ShardId{0},
                                         ShardServices{.store = store_,
                                                       .catalog = catalog_,
                                                       .clock = clock_,
                                                       .diagnostics = diagnostics_,
                                                       .limits = {},
                                                       .checkpoint_events = checkpoint_events});
        auto ids = std::vector{ShardId{0}};
        ASSERT_TRUE(shard_->open(store_.acquire(ids)->front()));
    }

    void start(const std::string& form) {
        auto hash = catalog_.add("default", {.name = "d", .form = *value::parse_json(form)});
        ASSERT_TRUE(hash) << hash.error().message;
        ASSERT_TRUE(
            shard_->take(StartInput{.run = run_, .info = {.definition = "d", .set = *hash}}));
        commit();
    }

    void send(const std::string& id, const std::string& sequence = "") {
        auto builder = event::Builder{id, "test", "item"};
        if (!sequence.empty()) {
            builder.attribute("sequence", Value{sequence});
        }
        auto events = std::vector{builder.run(run_.id).build()};
        ASSERT_TRUE(shard_->take(
            EventsInput{.shard = ShardId{0}, .space = run_.space, .events = std::move(events)}));
        commit();
    }

    void send_many(int count) {
        for (auto at = 0; at < count; ++at) {
            send("e" + std::to_string(sent_++));
        }
    }

    void commit() {
        auto commit = Commit{store_.make_batch()};
        auto release = shard_->write(commit);
        ASSERT_TRUE(store_.commit(commit.finish()));
        shard_->confirm_synced(release.commit);
    }

    void sweep() {
        ASSERT_TRUE(shard_->sweep_expired());
        if (shard_->has_changes()) {
            commit();
        }
    }

    std::size_t keys_of(char table) const {
        auto prefix = keys::table(ShardId{0}, table);
        auto count = std::size_t{0};
        auto cursor = store_.scan(prefix, keys::end_of(prefix));
        for (; cursor->is_valid(); cursor->next()) {
            ++count;
        }
        return count;
    }

    std::uint64_t first_event() {
        return inspector_.first_event(run_)->value_or(trigger::EventNumber{0}).raw();
    }

    void expect_replays(std::uint64_t from, std::uint64_t begins_at) {
        auto report = replay(inspector_, run_, {}, trigger::EventNumber{from});
        ASSERT_TRUE(report) << report.error().message;
        EXPECT_EQ(report->from, begins_at);
        EXPECT_EQ(report->difference_count, 0U)
            << (report->differences.empty() ? "" : report->differences.front().what);
    }

    store::memory::MemoryStore store_{1};
    trigger::Vocabulary vocabulary_;
    Catalog catalog_{store_, vocabulary_};
    PassingClock clock_;
    observe::NullDiagnostics diagnostics_;
    Inspector inspector_{store_, vocabulary_};
    std::unique_ptr<Shard> shard_;
    RunName run_{.id = "r"};
    int sent_ = 0;
};

constexpr auto counting = R"({"name":"d","retention":"1h","triggers":[
    {"id":"count","on":"item","condition":{"count":7},"lifetime":"persistent",
     "action":{"set":{"run":{"fires":"${run.fires}"}}}}]})";

TEST_F(CheckpointTest, IsWrittenAfterSoManyEvents) {
    start(counting);
    send_many(8);
    EXPECT_EQ(keys_of('C'), 0U);

    send_many(1);

    auto found = checkpoint_at(store_, ShardId{0}, run_, trigger::EventNumber{99});
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->event.raw(), 10U);
    send_many(30);
    EXPECT_GE(keys_of('C'), 2U);
    EXPECT_LE(keys_of('C'), 4U);
}

TEST_F(CheckpointTest, GoesOnCountingWhenTheRunWakes) {
    start(counting);
    send_many(12);
    open();

    send_many(1);
    EXPECT_EQ(keys_of('C'), 1U);
    send_many(20);

    EXPECT_GE(keys_of('C'), 2U);
}

TEST_F(CheckpointTest, GivesTheStateThatHistoryGives) {
    start(counting);
    send_many(45);
    auto from_the_start = trigger::RunState{};
    from_the_start.id = run_.id;

    ASSERT_TRUE(inspector_.read_history(run_, [&](const trigger::Entry& entry) {
        trigger::fold(from_the_start, entry);
        auto past = state_at(inspector_, run_, entry.number);
        EXPECT_TRUE(past) << past.error().message;
        EXPECT_EQ(trigger::testing::state_text(*past->state),
                  trigger::testing::state_text(from_the_start));
        EXPECT_EQ(past->moment.time, entry.moment.time);
        return true;
    }));
}

TEST_F(CheckpointTest, IsWhereReplayMayBegin) {
    start(counting);
    send_many(12);
    send("e3"); // A duplicate of one before the checkpoint, and one of one behind it.
    send("e11");
    send_many(1);

    expect_replays(0, 0);
    expect_replays(5, 0);
    expect_replays(14, 10);
}

TEST_F(CheckpointTest, ReplayTakesDuplicatesByNumberAsRecorded) {
    start(R"({"name":"d","dedupe":"sequence","triggers":[
        {"id":"count","on":"item","condition":{"count":7},"lifetime":"persistent"}]})");
    for (auto number : {"1", "2", "3", "2", "4", "5", "6", "7", "8", "9", "9", "3", "10"}) {
        send("same", number);
    }

    expect_replays(0, 0);
    expect_replays(13, 10);
}

TEST_F(CheckpointTest, LetsHistoryBeforeItGoWhileTheRunLives) {
    start(counting);
    send_many(25);
    auto records = keys_of('H');
    sweep();
    EXPECT_EQ(keys_of('H'), records);

    clock_.passed += std::chrono::minutes{61};
    send_many(1);
    sweep();

    EXPECT_GT(first_event(), 10U);
    EXPECT_EQ(keys_of('C'), 1U);
    auto last = inspector_.run(run_);
    EXPECT_EQ((*last)->progress.events, 27U);
    expect_replays(0, first_event() - 1);
    auto past = state_at(inspector_, run_, trigger::EventNumber{27});
    ASSERT_TRUE(past) << past.error().message;
    EXPECT_EQ(trigger::testing::state_text(*past->state), trigger::testing::state_text(**last));
    auto gone = state_at(inspector_, run_, trigger::EventNumber{3});
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().code, Errc::NotFound);
    EXPECT_NE(gone.error().message.find("no longer kept"), std::string::npos);
}

TEST_F(CheckpointTest, KeepsARunWithoutEndBounded) {
    start(R"({"name":"d","retention":"1h","dedupe":"none","triggers":[
        {"id":"count","on":"item","condition":{"count":7},"lifetime":"persistent"}]})");
    auto most = std::size_t{0};
    for (auto hour = 0; hour < 50; ++hour) {
        send_many(40);
        clock_.passed += std::chrono::minutes{30};
        sweep();
        if (hour > 5) {
            most = std::max(most, keys_of('H') + keys_of('C') + keys_of('D') + keys_of('G'));
        }
    }

    EXPECT_LT(most, 250U);
    expect_replays(0, first_event() - 1);
}

TEST_F(CheckpointTest, OfARunThatWasRemovedMeansNothingToItsSuccessor) {
    start(counting);
    send_many(12);
    ASSERT_TRUE(shard_->take(RemoveInput{.run = run_, .when_running = WhenRunning::Terminate}));
    commit();
    EXPECT_EQ(keys_of('C'), 0U);
    clock_.passed += std::chrono::minutes{59};
    start(counting);
    send_many(12);

    clock_.passed += std::chrono::minutes{2};
    sweep();

    EXPECT_EQ(first_event(), 1U);
    EXPECT_EQ(keys_of('C'), 1U);
}

} // namespace
} // namespace sluice::engine
