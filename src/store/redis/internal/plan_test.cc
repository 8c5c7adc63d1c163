#include "store/redis/internal/plan.h"

#include <gtest/gtest.h>

namespace sluice::store::redis::internal {
namespace {

const auto keyspace = Keyspace{"p", 4};

std::string key_of(unsigned shard, std::string_view rest) {
    return std::string{static_cast<char>(shard >> 8U), static_cast<char>(shard & 0xFFU)} +
           std::string{rest};
}

TEST(Keyspace, TablesAreInTheOrderOfTheirKeys) {
    EXPECT_EQ(keyspace.table_of(""), 0);
    EXPECT_EQ(keyspace.table_of(std::string(1, '\0')), 0);
    EXPECT_EQ(keyspace.table_of(key_of(3, "x")), 3);
    EXPECT_EQ(keyspace.table_of(key_of(4, "x")), 4);
    EXPECT_EQ(keyspace.table_of(key_of(0xFFFF, "x")), 4);
    EXPECT_EQ(keyspace.table_of("a"), 4);
    EXPECT_EQ((Keyspace{"p", 1000}.table_of("\x01")), 256);
}

TEST(Keyspace, HasNamesThatAClusterKeepsTogether) {
    EXPECT_EQ(keyspace.keys_of(3), "{p:3}:keys");
    EXPECT_EQ(keyspace.values_of(4), "{p:catalog}:values");
    EXPECT_EQ(keyspace.meta(), "{p}:meta");
    EXPECT_EQ(keyspace.lease_by("w"), "{p}:done:w:lease");
    EXPECT_EQ(keyspace.commit_by("w", 3), "{p:3}:done:w:commit");
    EXPECT_EQ(keyspace.probes().size(), 6);
}

TEST(Keyspace, CutsRangesAtTheTables) {
    auto all = keyspace.pieces("", "");
    ASSERT_EQ(all.size(), 5);
    EXPECT_EQ(all[4].table, 4);
    EXPECT_EQ(all[4].from + all[4].to, "-+");

    auto one = keyspace.pieces(key_of(1, ""), key_of(2, ""));
    ASSERT_EQ(one.size(), 1);
    EXPECT_EQ(one[0].from, "[" + key_of(1, ""));
    EXPECT_EQ(one[0].to, "+");

    auto two = keyspace.pieces(key_of(1, "b"), key_of(2, "c"));
    ASSERT_EQ(two.size(), 2);
    EXPECT_EQ(two[0].from, "[" + key_of(1, "b"));
    EXPECT_EQ(two[1].to, "(" + key_of(2, "c"));

    EXPECT_EQ(keyspace.pieces("b", "a").size(), 0);
    EXPECT_EQ(keyspace.pieces("a", "a").size(), 0);
}

TEST(Plan, HasEachKeyOnceAndRangesFirst) {
    auto batch = FlatBatch{};
    batch.put("a", "1");
    batch.put("b", "1");
    batch.remove_range("a", "b");
    batch.put("b", "2");
    batch.put("aa", "3");
    batch.remove("c");
    batch.put("d", "4");
    batch.remove("d");
    auto plan = Plan::make(batch, keyspace);
    ASSERT_TRUE(plan);
    auto commands = resp::Commands{};
    plan->write(commands, "sha", keyspace, "guard", "7");

    auto expected = resp::Commands{};
    expected.add("EVALSHA", "sha", 4, "guard", "{p:catalog}:state", "{p:catalog}:keys",
                 "{p:catalog}:values", 7, 0, 0, 0, 0, 1, 2, 2, "[a", "(b", "c", "d", "aa", "3", "b",
                 "2");
    EXPECT_EQ(commands.text(), expected.text());
}

TEST(Plan, NamesTheFencedShards) {
    auto batch = FlatBatch{};
    batch.fence({ShardId{2}, Epoch{5}, CommitNumber{9}});
    auto plan = Plan::make(batch, keyspace);
    ASSERT_TRUE(plan);
    auto commands = resp::Commands{};
    plan->write(commands, "sha", keyspace, "guard", "");

    auto expected = resp::Commands{};
    expected.add("EVALSHA", "sha", 4, "guard", "{p:2}:state", "{p:2}:keys", "{p:2}:values", "", 1,
                 5, 9, 10, 0, 0, 0);
    EXPECT_EQ(commands.text(), expected.text());
    EXPECT_TRUE(plan->is_fenced());
    EXPECT_TRUE(Plan::make(FlatBatch{}, keyspace)->is_empty());
}

TEST(Plan, ComesApartByTable) {
    auto batch = FlatBatch{};
    batch.fence({ShardId{2}, Epoch{5}, CommitNumber{9}});
    batch.put(key_of(2, "x"), "1");
    batch.put("catalogued", "2");
    auto plan = Plan::make(batch, keyspace);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->probes(keyspace),
              (std::vector<std::string>{"{p:2}:probe", "{p:catalog}:probe"}));

    auto parts = std::move(*plan).by_table();
    ASSERT_EQ(parts.size(), 2);
    EXPECT_EQ(parts[0].first_table(), 2);
    EXPECT_TRUE(parts[0].is_fenced());
    EXPECT_EQ(parts[1].first_table(), 4);
    EXPECT_FALSE(parts[1].is_fenced());
}

} // namespace
} // namespace sluice::store::redis::internal
