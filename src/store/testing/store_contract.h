#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "store/store.h"

namespace sluice::store::testing {

/// A kind of store that the contract is tried on: `make` gives an empty one of four shards. Null:
/// it cannot be had here, and the case is skipped. So are cases about batches over several shards
/// where the kind says that each shard is by itself, and the store must say so as well.
struct StoreKind {
    std::string name;
    std::function<std::unique_ptr<Store>()> make;
    Atomicity atomicity = Atomicity::Batch;
};

inline std::string name_of_kind(const ::testing::TestParamInfo<StoreKind>& info) {
    return info.param.name;
}

/// What every store must do, whatever it is made of. The cases stand in this header, so that only
/// programs that try a store have them: a store's own test includes it, in one source, and says
/// `INSTANTIATE_TEST_SUITE_P(Memory, StoreContract, ::testing::Values(StoreKind{…}),
/// name_of_kind);`
class StoreContract : public ::testing::TestWithParam<StoreKind> {
public:
    void SetUp() override {
        if (store == nullptr) {
            GTEST_SKIP() << GetParam().name << " cannot be had here";
        }
    }
    void put(std::string_view key, std::string_view value) {
        auto batch = store->make_batch();
        batch->put(key, value);
        auto done = store->commit(*batch);
        ASSERT_TRUE(done) << done.error().message;
    }
    std::string get(std::string_view key) const {
        auto value = store->get(key);
        return value ? value->value_or("(none)") : "error: " + value.error().message;
    }
    /// `a=1 b=2`, of a cursor from where it stands to its end.
    static std::string listing(Cursor& cursor) {
        auto text = std::string{};
        for (; cursor.is_valid(); cursor.next()) {
            text += fmt::format("{}{}={}", text.empty() ? "" : " ", cursor.key(), cursor.value());
        }
        EXPECT_TRUE(cursor.status());
        return text;
    }
    std::string listing(std::string_view from = {}, std::string_view to = {}) const {
        return listing(*store->scan(from, to));
    }

    std::unique_ptr<Store> store = GetParam().make();
};

inline constexpr auto contract_shard = ShardId{2};

inline Errc code_of(const Result<void>& result) {
    return result ? Errc::Internal : result.error().code;
}

TEST_P(StoreContract, GivesBackWhatWasPut) {
    put("key", "value");

    EXPECT_EQ(get("key"), "value");
    EXPECT_EQ(get("kez"), "(none)");
    EXPECT_EQ(get("ke"), "(none)");
}

TEST_P(StoreContract, TakesAnyBytesAsKeyAndValue) {
    auto key = std::string("\x00\x00\xFF\x00", 4);
    auto value = std::string(100'000, '\0');

    put(key, value);
    put(std::string(1, '\xFF'), "last");
    put("", "");

    EXPECT_EQ(get(key), value);
    EXPECT_EQ(get(""), "");
    auto cursor = store->scan({}, {});
    EXPECT_EQ(cursor->key(), "");
    cursor->next();
    EXPECT_EQ(cursor->key(), key);
    cursor->next();
    EXPECT_EQ(cursor->key(), "\xFF");
}

TEST_P(StoreContract, TheLastOperationOnAKeyWins) {
    auto batch = store->make_batch();
    batch->put("a", "1");
    batch->put("a", "2");
    batch->put("b", "1");
    batch->remove("b");
    batch->remove("c");
    batch->put("c", "1");
    ASSERT_TRUE(store->commit(*batch));

    EXPECT_EQ(listing(), "a=2 c=1");
}

TEST_P(StoreContract, RemovesARangeWithoutItsEnd) {
    for (auto key : {"a", "b", "ba", "c", "d"}) {
        put(key, "1");
    }
    auto batch = store->make_batch();
    batch->remove_range("b", "c");
    batch->remove_range("d", "a");
    batch->put("bb", "2");
    ASSERT_TRUE(store->commit(*batch));

    EXPECT_EQ(listing(), "a=1 bb=2 c=1 d=1");
}

TEST_P(StoreContract, RemovesToTheEndWhenTheRangeHasNone) {
    for (auto key : {"a", "b", "\xFF\xFF"}) {
        put(key, "1");
    }
    auto batch = store->make_batch();
    batch->remove_range("b", "");
    ASSERT_TRUE(store->commit(*batch));

    EXPECT_EQ(listing(), "a=1");
}

TEST_P(StoreContract, ScansInOrderFromStartToBeforeEnd) {
    for (auto key : {"c", "a", "bb", "b"}) {
        put(key, "1");
    }

    EXPECT_EQ(listing(), "a=1 b=1 bb=1 c=1");
    EXPECT_EQ(listing("b", "c"), "b=1 bb=1");
    EXPECT_EQ(listing("aa", ""), "b=1 bb=1 c=1");
    EXPECT_EQ(listing("x", ""), "");
}

TEST_P(StoreContract, ACursorSeesWhatWasOverwrittenByMoreAndByLess) {
    put("a", "1");
    put("b", "22");
    auto cursor = store->scan({}, {});
    put("a", "a longer one");
    put("ab", "new");
    put("b", "2");
    put("a", "an even longer one");
    auto later = store->scan({}, {});
    put("a", "");

    EXPECT_EQ(listing(*cursor), "a=1 b=22");
    EXPECT_EQ(listing(*later), "a=an even longer one ab=new b=2");
    EXPECT_EQ(listing(), "a= ab=new b=2");
}

TEST_P(StoreContract, ACursorSeesNothingOfLaterCommits) {
    for (auto key : {"a", "b", "c"}) {
        put(key, "1");
    }
    auto cursor = store->scan({}, {});
    auto batch = store->make_batch();
    batch->put("a", "2");
    batch->remove("b");
    batch->put("bb", "2");
    batch->remove_range("c", "d");
    ASSERT_TRUE(store->commit(*batch));
    put("a", "3");

    EXPECT_EQ(listing(*cursor), "a=1 b=1 c=1");
    EXPECT_EQ(listing(), "a=3 bb=2");
}

TEST_P(StoreContract, AClearedBatchHoldsNothing) {
    auto batch = store->make_batch();
    batch->put("a", "1");
    batch->fence({contract_shard, Epoch{9}, CommitNumber{9}});
    batch->clear();
    batch->put("b", "1");
    ASSERT_TRUE(store->commit(*batch));

    EXPECT_EQ(listing(), "b=1");
}

TEST_P(StoreContract, EveryAcquisitionRaisesTheEpoch) {
    auto shards = std::vector{contract_shard, ShardId{3}};

    auto first = store->acquire(shards);
    auto second = store->acquire(std::span{shards}.first(1));

    ASSERT_TRUE(first && second);
    EXPECT_EQ((*first)[0].epoch, Epoch{1});
    EXPECT_EQ((*first)[1].epoch, Epoch{1});
    EXPECT_EQ((*second)[0].epoch, Epoch{2});
    EXPECT_EQ((*second)[0].commit, CommitNumber{0});
}

TEST_P(StoreContract, ACommitMovesItsShardsOn) {
    auto shards = std::vector{contract_shard, ShardId{3}};
    ASSERT_TRUE(store->acquire(shards));
    auto batch = store->make_batch();
    batch->fence({contract_shard, Epoch{1}, CommitNumber{0}});
    batch->fence({ShardId{3}, Epoch{1}, CommitNumber{0}});
    ASSERT_TRUE(store->commit(*batch));

    auto states = store->acquire(shards);

    ASSERT_TRUE(states);
    EXPECT_EQ((*states)[0].commit, CommitNumber{1});
    EXPECT_EQ((*states)[1].commit, CommitNumber{1});
}

TEST_P(StoreContract, TheSameCommitTwiceIsStaleTheSecondTime) {
    ASSERT_TRUE(store->acquire(std::vector{contract_shard}));
    auto batch = store->make_batch();
    batch->put("a", "1");
    batch->fence({contract_shard, Epoch{1}, CommitNumber{0}});
    ASSERT_TRUE(store->commit(*batch));
    put("a", "2");

    EXPECT_EQ(code_of(store->commit(*batch)), Errc::Stale);
    EXPECT_EQ(get("a"), "2");
}

TEST_P(StoreContract, AnEarlierOwnerIsRefused) {
    ASSERT_TRUE(store->acquire(std::vector{contract_shard}));
    ASSERT_TRUE(store->acquire(std::vector{contract_shard}));
    auto batch = store->make_batch();
    batch->put("a", "1");
    batch->fence({contract_shard, Epoch{1}, CommitNumber{0}});

    EXPECT_EQ(code_of(store->commit(*batch)), Errc::Stale);
    EXPECT_EQ(listing(), "");
}

TEST_P(StoreContract, SaysHowMuchHappensAtOnce) {
    EXPECT_EQ(store->atomicity(), GetParam().atomicity);
}

TEST_P(StoreContract, OneStaleFenceRefusesTheWholeBatch) {
    if (GetParam().atomicity == Atomicity::Shard) {
        GTEST_SKIP() << GetParam().name << " is whole shard by shard only";
    }
    ASSERT_TRUE(store->acquire(std::vector{contract_shard, ShardId{3}}));
    auto batch = store->make_batch();
    batch->put("a", "1");
    batch->fence({contract_shard, Epoch{1}, CommitNumber{0}});
    batch->fence({ShardId{3}, Epoch{1}, CommitNumber{5}});

    EXPECT_EQ(code_of(store->commit(*batch)), Errc::Stale);
    EXPECT_EQ(listing(), "");
    EXPECT_EQ((*store->acquire(std::vector{contract_shard}))[0].commit, CommitNumber{0});
}

TEST_P(StoreContract, OneStaleFenceRefusesItsShardAndWhatIsNoShards) {
    ASSERT_TRUE(store->acquire(std::vector{contract_shard, ShardId{3}}));
    auto key = std::string("\x00\x03key", 5);
    auto batch = store->make_batch();
    batch->put("a", "1");
    batch->put(key, "1");
    batch->fence({contract_shard, Epoch{1}, CommitNumber{0}});
    batch->fence({ShardId{3}, Epoch{1}, CommitNumber{5}});

    EXPECT_EQ(code_of(store->commit(*batch)), Errc::Stale);
    EXPECT_EQ(get("a"), "(none)");
    EXPECT_EQ(get(key), "(none)");
    EXPECT_EQ((*store->acquire(std::vector{ShardId{3}}))[0].commit, CommitNumber{0});
}

TEST_P(StoreContract, ACommitOverSeveralShardsIsAllThere) {
    auto shards = std::vector{ShardId{0}, ShardId{1}, ShardId{2}, ShardId{3}};
    ASSERT_TRUE(store->acquire(shards));
    auto batch = store->make_batch();
    for (auto round = std::uint64_t{0}; round < 3; ++round) {
        batch->clear();
        for (auto shard : shards) {
            batch->fence({shard, Epoch{1}, CommitNumber{round}});
            batch->put(std::string{'\0', static_cast<char>(shard.raw())} + "k",
                       std::to_string(round));
        }
        batch->put("catalogued", std::to_string(round));
        ASSERT_TRUE(store->commit(*batch));
    }

    auto count = 0;
    for (auto cursor = store->scan({}, {}); cursor->is_valid(); cursor->next()) {
        EXPECT_EQ(cursor->value(), "2");
        ++count;
    }
    EXPECT_EQ(count, 5);
    auto states = store->acquire(shards).value();
    for (const auto& state : states) {
        EXPECT_EQ(state.commit, CommitNumber{3});
    }
}

TEST_P(StoreContract, AShardThatIsNotThereIsRefused) {
    auto beyond = ShardId{store->shard_count()};
    auto batch = store->make_batch();
    batch->fence({beyond, Epoch{0}, CommitNumber{0}});

    EXPECT_EQ(store->shard_count(), 4);
    EXPECT_EQ(code_of(store->commit(*batch)), Errc::InvalidInput);
    EXPECT_FALSE(store->acquire(std::vector{beyond}));
}

TEST_P(StoreContract, AShardFencedTwiceIsRefused) {
    auto batch = store->make_batch();
    batch->fence({contract_shard, Epoch{0}, CommitNumber{0}});
    batch->fence({contract_shard, Epoch{0}, CommitNumber{0}});

    EXPECT_EQ(code_of(store->commit(*batch)), Errc::InvalidInput);
}

TEST_P(StoreContract, FencesAndKeysDoNotMix) {
    ASSERT_TRUE(store->acquire(std::vector{contract_shard}));
    auto batch = store->make_batch();
    batch->fence({contract_shard, Epoch{1}, CommitNumber{0}});
    batch->remove_range("", "");
    ASSERT_TRUE(store->commit(*batch));

    EXPECT_EQ(listing(), "");
    EXPECT_EQ((*store->acquire(std::vector{contract_shard}))[0].commit, CommitNumber{1});
}

TEST_P(StoreContract, ReadersOnOtherThreadsSeeWholeCommits) {
    constexpr auto commits = 200;
    auto is_done = std::atomic<bool>{false};
    auto torn = std::atomic<int>{0};
    auto reader = std::thread{[&] {
        while (!is_done) {
            auto cursor = store->scan("left", "s");
            auto left = cursor->is_valid() ? std::string{cursor->value()} : std::string{};
            if (cursor->is_valid()) {
                cursor->next();
            }
            auto right = cursor->is_valid() ? std::string{cursor->value()} : std::string{};
            torn += left != right ? 1 : 0;
            torn += store->get("left").has_value() ? 0 : 1;
        }
    }};
    for (auto number = 0; number < commits; ++number) {
        auto batch = store->make_batch();
        batch->put("left", std::to_string(number));
        batch->put("right", std::to_string(number));
        EXPECT_TRUE(store->commit(*batch));
    }
    is_done = true;
    reader.join();

    EXPECT_EQ(torn, 0);
    EXPECT_EQ(get("right"), std::to_string(commits - 1));
}

} // namespace sluice::store::testing
