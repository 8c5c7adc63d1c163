#include "cluster/balance.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

namespace sluice::cluster {
namespace {

/// Workers that look at the table in turn, until nobody wants anything.
class BalanceTest : public ::testing::Test {
protected:
    BalanceTest() { table_.owners.resize(64); }

    void join(const std::string& id) {
        table_.members.push_back({.id = id, .address = ""});
        std::ranges::sort(table_.members, {}, &store::Member::id);
    }
    void leave(const std::string& id) {
        std::erase_if(table_.members, [&](const auto& member) { return member.id == id; });
        std::ranges::replace(table_.owners, id, std::string{});
    }
    std::set<ShardId> owned(const std::string& id) const {
        auto shards = std::set<ShardId>{};
        for (auto at = std::size_t{0}; at < table_.owners.size(); ++at) {
            if (table_.owners[at] == id) {
                shards.insert(ShardId{static_cast<std::uint16_t>(at)});
            }
        }
        return shards;
    }
    /// How many shards changed hands.
    int settle() {
        auto moves = 0;
        for (auto is_quiet = false; !is_quiet;) {
            is_quiet = true;
            for (const auto& member : table_.members) {
                auto wanted = balance(table_, member.id, owned(member.id));
                for (auto shard : wanted.let_go) {
                    table_.owners[shard.raw()].clear();
                }
                for (auto shard : wanted.take) {
                    table_.owners[shard.raw()] = member.id;
                }
                moves += static_cast<int>(wanted.take.size());
                is_quiet = is_quiet && wanted.take.empty() && wanted.let_go.empty();
            }
        }
        return moves;
    }

    store::LeaseTable table_;
};

TEST_F(BalanceTest, GivesEachWorkerItsShareAndMovesNoMore) {
    join("worker-a");
    EXPECT_EQ(settle(), 64);
    join("worker-b");
    join("gateway-1");
    EXPECT_EQ(settle(), 32);
    join("worker-c");
    EXPECT_EQ(settle(), 21);
    EXPECT_EQ(owned("worker-a").size(), 22U);
    EXPECT_EQ(owned("worker-c").size(), 21U);
    EXPECT_EQ(settle(), 0);
    leave("worker-a");
    EXPECT_EQ(settle(), 22);
    EXPECT_EQ(owned("worker-b").size(), 32U);
    EXPECT_TRUE(owned("gateway-1").empty());
}

TEST_F(BalanceTest, LeavesMoreWorkersThanShardsWithout) {
    table_.owners.resize(2);
    for (const auto* id : {"worker-a", "worker-b", "worker-c"}) {
        join(id);
    }
    settle();
    EXPECT_EQ(owned("worker-a").size() + owned("worker-b").size(), 2U);
    EXPECT_TRUE(owned("worker-c").empty());
}

} // namespace
} // namespace sluice::cluster
