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
