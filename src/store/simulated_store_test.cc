#include "store/testing/simulated_store.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "store/testing/store_contract.h"

namespace sluice::store {
namespace {

using testing::CrashPoint;
using testing::Loss;
using testing::SimulatedStore;
using testing::StoreContract;
using testing::StoreKind;

INSTANTIATE_TEST_SUITE_P(Simulated, StoreContract,
                         ::testing::Values(StoreKind{"Store",
                                                     [] {
                                                         return std::make_unique<SimulatedStore>(
                                                             SimulatedStore::Options{.shard_count =
                                                                                         4});
                                                     }}),
                         testing::name_of_kind);

Result<void> put(Store& store, std::string_view key, std::string_view value) {
    auto batch = store.make_batch();
    batch->put(key, value);
    batch->put("copy", value);
    return store.commit(*batch);
}

std::optional<std::string> get(const Store& store, std::string_view key) {
    return store.get(key).value();
}

TEST(SimulatedStore, KeepsSyncedCommitsOverPowerLoss) {
    auto store = SimulatedStore{{}};
    ASSERT_TRUE(put(store, "a", "1"));

    auto next = store.crash(Loss::Power);

    EXPECT_EQ(get(*next, "a"), "1");
    EXPECT_EQ(get(*next, "copy"), "1");
    EXPECT_EQ(put(store, "a", "2").error().code, Errc::Io);
}

TEST(SimulatedStore, ACrashAtAWriteKeepsAllOfItOrNothing) {
    struct Case {
        CrashPoint point;
        Loss loss;
        const char* found;
    };
    for (auto [point, loss, found] : {Case{CrashPoint::BeforeWrite, Loss::Process, "1"},
                                      Case{CrashPoint::TornWrite, Loss::Process, "1"},
                                      Case{CrashPoint::AfterWrite, Loss::Process, "2"},
                                      Case{CrashPoint::AfterSync, Loss::Power, "2"}}) {
        auto store = SimulatedStore{{}};
        ASSERT_TRUE(put(store, "a", "1"));
        store.crash_at_write(0, point);
        EXPECT_FALSE(put(store, "a", "2"));
        EXPECT_TRUE(store.is_dead());

        auto next = store.crash(loss);

        EXPECT_EQ(get(*next, "a"), found);
        EXPECT_EQ(get(*next, "copy"), found);
    }
}

TEST(SimulatedStore, AFailedSyncLeavesTheOutcomeToTheSeed) {
    auto outcomes = std::set<std::string>{};
    for (auto seed = std::uint64_t{0}; seed < 20; ++seed) {
        auto store = SimulatedStore{{.seed = seed}};
        ASSERT_TRUE(put(store, "a", "1"));
        store.fail_sync(1);
        ASSERT_TRUE(put(store, "a", "2"));
        EXPECT_EQ(put(store, "a", "3").error().code, Errc::Io);
        EXPECT_EQ(put(store, "a", "4").error().code, Errc::Io);
        outcomes.insert(*get(*store.crash(Loss::Power), "a"));
    }
    EXPECT_EQ(outcomes, (std::set<std::string>{"2", "3"}));
}

TEST(SimulatedStore, AFullDiskRefusesAndTakesAgain) {
    auto store = SimulatedStore{{}};
    store.set_full(true);
    EXPECT_FALSE(store.is_writable());
    EXPECT_EQ(put(store, "a", "1").error().code, Errc::NoSpace);

    store.set_full(false);

    EXPECT_TRUE(store.is_writable());
    EXPECT_TRUE(put(store, "a", "1"));
}

TEST(SimulatedStore, RelaxedCommitsSurviveTheProcessButMayGoWithThePower) {
    auto lost = 0;
    for (auto seed = std::uint64_t{0}; seed < 20; ++seed) {
        auto store = SimulatedStore{{.seed = seed, .durability = Durability::Relaxed}};
        ASSERT_TRUE(put(store, "a", "1"));
        ASSERT_TRUE(store.sync());
        ASSERT_TRUE(put(store, "a", "2"));
        EXPECT_EQ(get(*store.crash(Loss::Process), "a"), "2");
        auto found = get(*store.crash(Loss::Power), "a");
        EXPECT_TRUE(found == "1" || found == "2");
        lost += found == "1" ? 1 : 0;
    }
    EXPECT_GT(lost, 0);
}

TEST(SimulatedStore, EpochsAndCommitNumbersSurvive) {
    auto store = SimulatedStore{{}};
    ASSERT_TRUE(store.acquire(std::vector{ShardId{7}}));
    auto batch = store.make_batch();
    batch->fence({ShardId{7}, Epoch{1}, CommitNumber{0}});
    ASSERT_TRUE(store.commit(*batch));

    auto next = store.crash(Loss::Power);
    auto states = next->acquire(std::vector{ShardId{7}});

    ASSERT_TRUE(states);
    EXPECT_EQ(states->front().epoch, Epoch{2});
    EXPECT_EQ(states->front().commit, CommitNumber{1});
}

RC_GTEST_PROP(SimulatedStore, TheSameSeedGivesTheSameDisk, (std::uint64_t seed)) {
    auto run = [&] {
        auto random = Random{seed};
        auto store = std::make_unique<SimulatedStore>(
            SimulatedStore::Options{.seed = seed, .durability = Durability::Relaxed});
        auto trace = std::string{};
        for (auto step = 0; step < 30; ++step) {
            static_cast<void>(put(*store, "key", std::to_string(step)));
            if (random.chance(0.2)) {
                store = store->crash(Loss::Power);
                trace += get(*store, "key").value_or("-") + " ";
            }
        }
        return trace;
    };
    RC_ASSERT(run() == run());
}

} // namespace
} // namespace sluice::store
