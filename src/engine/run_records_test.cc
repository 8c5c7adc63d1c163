#include "engine/run_records.h"

#include <gtest/gtest.h>

#include "store/memory/memory_store.h"
#include "trigger/apply.h"

namespace sluice::engine {
namespace {

TEST(RunRecords, NumbersHaveAFormat) {
    auto record = number_record(7);

    EXPECT_EQ(record.front(), 1);
    EXPECT_EQ(read_number(record), 7U);
    record.front() = 9;
    EXPECT_EQ(read_number(record).error().code, Errc::Unsupported);
    EXPECT_FALSE(read_number(""));
}

TEST(RunRecords, SequencesHaveAFormat) {
    auto store = store::memory::MemoryStore{1};
    auto run = RunName{.id = "r"};
    auto state = trigger::RunState{};
    state.sequences = {{"one", 5}, {"two", 9}};
    state.has_sequences_changed = true;
    auto batch = store.make_batch();
    write_dirty(state, ShardId{0}, run, *batch);
    ASSERT_TRUE(store.commit(*batch));

    auto loaded = load_run(store, ShardId{0}, run);

    ASSERT_TRUE(loaded && *loaded);
    EXPECT_EQ((*loaded)->sequences, state.sequences);
    auto key = keys::sequences(keys::run(ShardId{0}, run));
    auto record = **store.get(key);
    record.front() = 9;
    batch->clear();
    batch->put(key, record);
    ASSERT_TRUE(store.commit(*batch));
    EXPECT_EQ(load_run(store, ShardId{0}, run).error().code, Errc::Unsupported);
}

/// Counts what would be written.
class Removals final : public store::Batch {
public:
    void put(std::string_view /*key*/, std::string_view /*value*/) override { ++puts; }
    void remove(std::string_view /*key*/) override { ++count; }
    void remove_range(std::string_view /*from*/, std::string_view /*to*/) override { ++count; }
    void fence(const store::Fence& /*fence*/) override {}
    std::size_t bytes() const override { return 0; }
    void clear() override {}

    std::size_t puts = 0;
    std::size_t count = 0;
};

class TriggerRecords : public ::testing::Test {
protected:
    static constexpr auto shard = ShardId{0};

    void activate(std::uint32_t number, std::uint64_t progress) {
        trigger::apply(state_, trigger::Activated{.scope = trigger::root_scope,
                                                  .trigger = trigger::TriggerNumber{number},
                                                  .progress = progress});
    }
    /// Meets a distinct key, which firing forgets.
    void meet(std::uint32_t number, std::uint64_t progress) {
        trigger::apply(state_, trigger::Activated{.scope = trigger::root_scope,
                                                  .trigger = trigger::TriggerNumber{number},
                                                  .progress = progress,
                                                  .seen = Fingerprint{1, 2}});
    }
    void fire(std::uint32_t number) {
        trigger::apply(state_, trigger::Fired{.scope = trigger::root_scope,
                                              .trigger = trigger::TriggerNumber{number}});
    }
    void write() {
        auto batch = store_.make_batch();
        write_dirty(state_, shard, run_, *batch);
        ASSERT_TRUE(store_.commit(*batch));
    }
    std::size_t records() const {
        auto prefix = keys::run(shard, run_) + 't';
        auto count = std::size_t{0};
        for (auto cursor = store_.scan(prefix, keys::end_of(prefix)); cursor->is_valid();
             cursor->next()) {
            ++count;
        }
        return count;
    }
    std::uint64_t loaded_progress(std::uint32_t number) const {
        auto loaded = load_run(store_, shard, run_);
        const auto* found = (*loaded)->root_triggers.find(number);
        return found == nullptr ? 0 : found->progress;
    }

    store::memory::MemoryStore store_{1};
    RunName run_{.id = "r"};
    trigger::RunState state_;
};

TEST_F(TriggerRecords, KeepsNeighboursInOneRecord) {
    for (auto number : {3U, 15U, 16U, 40'000U}) {
        activate(number, number + 1);
    }
    write();
    activate(3, 100);
    write();

    EXPECT_EQ(records(), 3U);
    EXPECT_EQ(loaded_progress(3), 100U);
    EXPECT_EQ(loaded_progress(15), 16U);
    EXPECT_EQ(loaded_progress(16), 17U);
    EXPECT_EQ(loaded_progress(40'000), 40'001U);
}

TEST_F(TriggerRecords, MovesAStateThatIsNoLongerPlainAndBack) {
    activate(1, 5);
    activate(2, 6);
    write();
    meet(2, 7);
    write();
    EXPECT_EQ(records(), 2U);
    EXPECT_EQ(loaded_progress(2), 7U);
    meet(1, 6);
    write();
    EXPECT_EQ(records(), 2U);
    EXPECT_EQ(loaded_progress(1), 6U);

    fire(1);
    activate(1, 1);
    write();
    EXPECT_EQ(records(), 2U);
    fire(2);
    activate(2, 3);
    write();

    EXPECT_EQ(records(), 1U);
    EXPECT_EQ(loaded_progress(1), 1U);
    EXPECT_EQ(loaded_progress(2), 3U);
}

TEST_F(TriggerRecords, TakesOverPlainStatesThatLieAlone) {
    activate(1, 5);
    activate(2, 6);
    write();
    auto run_key = keys::run(shard, run_);
    auto batch = store_.make_batch();
    batch->remove(keys::trigger_group(run_key, trigger::root_scope, trigger::TriggerNumber{0}));
    for (auto number : {1, 2}) {
        auto progress = static_cast<char>(number + 4);
        batch->put(keys::trigger_state(run_key, trigger::root_scope,
                                       trigger::TriggerNumber{static_cast<std::uint32_t>(number)}),
                   std::string{3, 0, 0, progress, 0, 0, 0});
    }
    ASSERT_TRUE(store_.commit(*batch));
    ASSERT_EQ(records(), 2U);
    state_ = std::move(**load_run(store_, shard, run_));

    activate(2, 7);
    write();

    EXPECT_EQ(records(), 1U);
    EXPECT_EQ(loaded_progress(1), 5U);
    EXPECT_EQ(loaded_progress(2), 7U);
}

TEST_F(TriggerRecords, RemovesStatesThatAreNoLongerThere) {
    activate(1, 5);
    activate(2, 6);
    meet(3, 7);
    write();
    ASSERT_EQ(records(), 2U);

    for (auto number : {1U, 2U, 3U}) {
        activate(number, 9);
    }
    state_.root_triggers.clear();
    activate(1, 8);
    write();

    EXPECT_EQ(records(), 1U);
    EXPECT_EQ(loaded_progress(1), 8U);
    activate(1, 9);
    state_.root_triggers.clear();
    write();
    EXPECT_EQ(records(), 0U);
}

TEST_F(TriggerRecords, RemovesNothingOfARunThatWasNeverWritten) {
    activate(1, 5);
    trigger::apply(state_, trigger::ContextSet{});
    state_.root_triggers.clear();
    auto removals = Removals{};
    write_dirty(state_, shard, run_, removals);
    EXPECT_EQ(removals.count, 0U);
    EXPECT_EQ(removals.puts, 1U); // Its progress: there is no context.

    activate(1, 6);
    state_.root_triggers.clear();
    write_dirty(state_, shard, run_, removals);
    EXPECT_GT(removals.count, 0U);
}

TEST_F(TriggerRecords, AreRefusedByAProgramWithoutGroups) {
    activate(1, 5);
    write();
    auto key =
        keys::trigger_group(keys::run(shard, run_), trigger::root_scope, trigger::TriggerNumber{0});

    // Such a program reads format 3 here.
    EXPECT_EQ(store_.get(key)->value().front(), 4);
}

TEST(RunRecords, KeepsWhatTriggersCollected) {
    auto store = store::memory::MemoryStore{1};
    auto run = RunName{.id = "r"};
    auto state = trigger::RunState{};
    auto scope = trigger::Incarnation{3};
    auto collector = trigger::TriggerNumber{7};
    auto batch = store.make_batch();
    auto write = [&] {
        write_dirty(state, ShardId{0}, run, *batch);
        ASSERT_TRUE(store.commit(*batch));
        batch->clear();
    };
    trigger::apply(state, trigger::Collected{
                              .scope = scope, .trigger = collector, .index = 130, .value = "z"});
    trigger::apply(
        state, trigger::Collected{.scope = scope, .trigger = collector, .index = 1, .value = "b"});
    write();

    auto loaded = load_run(store, ShardId{0}, run);
    trigger::apply(state, trigger::CollectionDropped{.scope = scope, .trigger = collector});
    write();
    auto after = load_run(store, ShardId{0}, run);

    ASSERT_TRUE(loaded && *loaded && after && *after);
    auto values = (*loaded)->collected_by(scope, collector);
    ASSERT_EQ(values.size(), 131U);
    EXPECT_EQ(values[1], Value{"b"});
    EXPECT_EQ(values[130], Value{"z"});
    EXPECT_TRUE(values[0].is_null());
    EXPECT_TRUE((*after)->collected.empty());
}

} // namespace
} // namespace sluice::engine
