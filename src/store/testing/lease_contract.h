#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "store/leases.h"
#include "store/store.h"

namespace sluice::store::testing {

/// A kind of store that several processes share, for the contract to be tried on.
struct LeaseKind {
    std::string name;
    /// An empty one of four shards; null: it cannot be had here, and the case is skipped.
    std::function<std::unique_ptr<Store>()> make;
    /// Another one over the same data as what `make` gave last, as a second process would open it.
    std::function<std::unique_ptr<Store>()> join;
};

inline std::string name_of_lease_kind(const ::testing::TestParamInfo<LeaseKind>& info) {
    return info.param.name;
}

/// What leases must do, whatever keeps them. The cases stand in this header, so that only programs
/// that try a store have them: a store's own test includes it, in one source, and says
/// `INSTANTIATE_TEST_SUITE_P(Redis, LeaseContract, ::testing::Values(LeaseKind{"Store", make,
/// join}), name_of_lease_kind);`
///
/// No case depends on how fast the machine is: a lease that must last has a minute, and one that
/// must end is shortened to a millisecond and then waited for.
class LeaseContract : public ::testing::TestWithParam<LeaseKind> {
public:
    using Taken = std::vector<std::pair<ShardId, ShardState>>;

    void SetUp() override {
        store = GetParam().make();
        if (store == nullptr) {
            GTEST_SKIP() << GetParam().name << " cannot be had here";
        }
        other_store = GetParam().join();
        ASSERT_NE(store->leases(), nullptr);
        ASSERT_NE(other_store->leases(), nullptr);
    }

    Leases& leases() { return *store->leases(); }
    Leases& other_leases() { return *other_store->leases(); }

    LeaseTable renew(Leases& by, const Member& member, Nanos lasts = std::chrono::minutes{1}) {
        auto table = by.renew(member, lasts);
        EXPECT_TRUE(table) << table.error().message;
        return table ? *table : LeaseTable{};
    }
    Taken take(Leases& by, const Member& member, std::span<const ShardId> shards) {
        auto taken = by.take(member, shards);
        EXPECT_TRUE(taken) << taken.error().message;
        return taken ? *taken : Taken{};
    }
    /// The member's time is over, and a second one has seen it go.
    void let_end(const Member& member, const Member& watcher) {
        renew(leases(), member, std::chrono::milliseconds{1});
        auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{20};
        while (has(renew(other_leases(), watcher), member)) {
            ASSERT_LT(std::chrono::steady_clock::now(), limit) << "the lease does not end";
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
    }
    Result<void> commit(Store& by, ShardId shard, ShardState state) {
        auto batch = by.make_batch();
        batch->fence({shard, state.epoch, state.commit});
        return by.commit(*batch);
    }
    static bool has(const LeaseTable& table, const Member& member) {
        for (const auto& one : table.members) {
            if (one == member) {
                return true;
            }
        }
        return false;
    }
    static std::vector<ShardId> shards_of(const Taken& taken) {
        auto shards = std::vector<ShardId>{};
        for (const auto& [shard, state] : taken) {
            shards.push_back(shard);
        }
        return shards;
    }

    std::unique_ptr<Store> store;
    std::unique_ptr<Store> other_store;
    Member one{.id = "one", .address = "127.0.0.1:7401"};
    Member two{.id = "two", .address = "http://[::1]:7402/a b,\"c\"|\xC3\xA4"};
    std::vector<ShardId> all{ShardId{0}, ShardId{1}, ShardId{2}, ShardId{3}};
};

inline Errc lease_code_of(const auto& result) {
    return result ? Errc::Internal : result.error().code;
}

TEST_P(LeaseContract, MembersAreSeenByEachOther) {
    auto nobody = Member{.id = "a-third", .address = ""};
    renew(leases(), two);
    renew(other_leases(), nobody);
    auto table = renew(other_leases(), one);

    EXPECT_EQ(table.members, (std::vector{nobody, one, two}));
    EXPECT_EQ(table.owners, std::vector<std::string>(4));
}

TEST_P(LeaseContract, AMemberMayMove) {
    renew(leases(), one);
    auto moved = Member{.id = one.id, .address = "127.0.0.1:7499"};

    EXPECT_EQ(renew(leases(), moved).members, std::vector{moved});
}

TEST_P(LeaseContract, WhatIsNobodysIsTakenAsAcquireDoes) {
    ASSERT_TRUE(store->acquire(std::vector{ShardId{1}}));
    renew(leases(), one);
    auto taken = take(leases(), one, std::vector{ShardId{1}, ShardId{3}});

    ASSERT_EQ(shards_of(taken), (std::vector{ShardId{1}, ShardId{3}}));
    EXPECT_EQ(taken[0].second.epoch, Epoch{2});
    EXPECT_EQ(taken[1].second.epoch, Epoch{1});
    EXPECT_EQ(renew(other_leases(), two).owners, (std::vector<std::string>{"", "one", "", "one"}));
    EXPECT_TRUE(commit(*store, ShardId{1}, taken[0].second));
    EXPECT_EQ(lease_code_of(commit(*store, ShardId{1}, {Epoch{1}, CommitNumber{1}})), Errc::Stale);
}

TEST_P(LeaseContract, WhatSomebodyHasIsNotTaken) {
    renew(leases(), one);
    renew(other_leases(), two);
    auto first = take(leases(), one, std::vector{ShardId{0}, ShardId{1}});
    auto second = take(other_leases(), two, all);
    auto own = take(leases(), one, all);

    ASSERT_EQ(first.size(), 2);
    EXPECT_EQ(shards_of(second), (std::vector{ShardId{2}, ShardId{3}}));
    EXPECT_EQ(own.size(), 0);
    EXPECT_TRUE(commit(*store, ShardId{0}, first[0].second));
}

TEST_P(LeaseContract, RenewingKeepsWhatOneHas) {
    renew(leases(), one);
    take(leases(), one, all);
    auto table = renew(leases(), one);

    EXPECT_EQ(table.owners, std::vector<std::string>(4, "one"));
    EXPECT_TRUE(has(table, one));
}

TEST_P(LeaseContract, WhoIsNotAliveTakesNothing) {
    EXPECT_EQ(lease_code_of(leases().take(one, all)), Errc::Stale);

    renew(leases(), one);
    ASSERT_TRUE(leases().leave(one));
    EXPECT_EQ(lease_code_of(leases().take(one, all)), Errc::Stale);

    let_end(one, two);
    EXPECT_EQ(lease_code_of(leases().take(one, all)), Errc::Stale);
    EXPECT_EQ(renew(leases(), two).owners, std::vector<std::string>(4));
}

TEST_P(LeaseContract, AShardThatIsNotThereIsNotTaken) {
    renew(leases(), one);

    EXPECT_EQ(lease_code_of(leases().take(one, std::vector{ShardId{0}, ShardId{4}})),
              Errc::InvalidInput);
    EXPECT_EQ(renew(leases(), one).owners, std::vector<std::string>(4));
}

TEST_P(LeaseContract, ReleasedShardsAreNobodysAtOnce) {
    renew(leases(), one);
    renew(leases(), two);
    auto first = take(leases(), one, all);
    ASSERT_TRUE(leases().release(one, std::vector{ShardId{1}, ShardId{2}}));
    auto second = take(other_leases(), two, all);

    ASSERT_EQ(shards_of(second), (std::vector{ShardId{1}, ShardId{2}}));
    EXPECT_EQ(second[0].second.epoch, Epoch{first[1].second.epoch.raw() + 1});
    EXPECT_TRUE(commit(*other_store, ShardId{1}, second[0].second));
    EXPECT_EQ(lease_code_of(commit(*store, ShardId{1}, first[1].second)), Errc::Stale);
    EXPECT_TRUE(commit(*store, ShardId{0}, first[0].second));
}

TEST_P(LeaseContract, WhatIsAnothersIsNotReleased) {
    renew(leases(), one);
    renew(leases(), two);
    take(leases(), one, all);

    ASSERT_TRUE(leases().release(two, all));
    EXPECT_EQ(renew(leases(), two).owners, std::vector<std::string>(4, "one"));
}

TEST_P(LeaseContract, WhoLeavesIsGoneWithAllItHad) {
    renew(leases(), one);
    renew(leases(), two);
    take(leases(), one, std::vector{ShardId{0}});
    take(leases(), two, std::vector{ShardId{1}});
    ASSERT_TRUE(leases().leave(one));
    ASSERT_TRUE(leases().leave(one));

    auto table = renew(leases(), two);
    EXPECT_EQ(table.members, std::vector{two});
    EXPECT_EQ(table.owners, (std::vector<std::string>{"", "two", "", ""}));
}

TEST_P(LeaseContract, ALeaseThatIsNotRenewedEnds) {
    renew(leases(), one);
    auto first = take(leases(), one, all);
    ASSERT_EQ(first.size(), 4);
    ASSERT_TRUE(commit(*store, ShardId{0}, first[0].second));
    let_end(one, two);

    EXPECT_EQ(renew(other_leases(), two).owners, std::vector<std::string>(4));
    auto second = take(other_leases(), two, all);
    ASSERT_EQ(second.size(), 4);
    EXPECT_EQ(second[0].second.commit, CommitNumber{1});
    EXPECT_EQ(lease_code_of(commit(*store, ShardId{0}, {first[0].second.epoch, CommitNumber{1}})),
              Errc::Stale);
    EXPECT_TRUE(commit(*other_store, ShardId{0}, second[0].second));
}

TEST_P(LeaseContract, ALeaseThatEndedStaysEnded) {
    renew(leases(), one);
    take(leases(), one, all);
    let_end(one, two);

    auto table = renew(leases(), one);
    EXPECT_TRUE(has(table, one));
    EXPECT_EQ(table.owners, std::vector<std::string>(4));
    EXPECT_EQ(take(leases(), one, all).size(), 4);
}

TEST_P(LeaseContract, ALeaseEndsAlsoWhenNobodyLooks) {
    renew(leases(), one);
    take(leases(), one, all);
    renew(leases(), one, std::chrono::milliseconds{1});
    std::this_thread::sleep_for(std::chrono::milliseconds{20});

    EXPECT_EQ(renew(leases(), one).owners, std::vector<std::string>(4));
}

TEST_P(LeaseContract, AllAgreeOnTheFirstProposal) {
    auto first = leases().agree("secret", "a");
    auto second = other_leases().agree("secret", "b");
    auto other = other_leases().agree("another", "b");

    ASSERT_TRUE(first && second && other);
    EXPECT_EQ(*first, "a");
    EXPECT_EQ(*second, "a");
    EXPECT_EQ(*other, "b");
}

TEST_P(LeaseContract, OfTwoWhoTakeAtOnceOneGetsIt) {
    renew(leases(), one);
    renew(other_leases(), two);
    for (auto round = 0; round < 20; ++round) {
        auto first = Taken{};
        auto racer = std::thread{[&] { first = take(leases(), one, all); }};
        auto second = take(other_leases(), two, all);
        racer.join();

        auto owners = renew(leases(), one).owners;
        EXPECT_EQ(first.size() + second.size(), 4);
        for (const auto& [shard, state] : first) {
            EXPECT_EQ(owners[shard.raw()], "one");
        }
        for (const auto& [shard, state] : second) {
            EXPECT_EQ(owners[shard.raw()], "two");
        }
        ASSERT_TRUE(leases().release(one, all));
        ASSERT_TRUE(leases().release(two, all));
    }
}

} // namespace sluice::store::testing
