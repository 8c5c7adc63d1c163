#include "store/postgres/postgres_store.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/postgres/testing/shared_server.h"
#include "store/testing/lease_contract.h"
#include "store/testing/store_contract.h"

namespace sluice::store::postgres {
namespace {

using store::testing::LeaseContract;
using store::testing::LeaseKind;
using store::testing::StoreContract;
using store::testing::StoreKind;
using ::testing::HasSubstr;
using testing::new_schema;
using ::testing::Not;
using testing::shared_server;

Options options_of(const std::string& schema, std::string_view parameters = {}) {
    auto options = Options::parse(shared_server()->url(schema, parameters)).value();
    options.shard_count = 4;
    return options;
}

std::unique_ptr<PostgresStore> open_in(const std::string& schema) {
    auto store = PostgresStore::open(options_of(schema));
    EXPECT_TRUE(store) << store.error().message;
    return store ? *std::move(store) : nullptr;
}

std::string last_schema;

std::unique_ptr<Store> make_store() {
    if (!testing::PostgresServer::missing().empty()) {
        return nullptr;
    }
    last_schema = new_schema();
    return open_in(last_schema);
}

INSTANTIATE_TEST_SUITE_P(Postgres, StoreContract, ::testing::Values(StoreKind{"Store", make_store}),
                         store::testing::name_of_kind);
INSTANTIATE_TEST_SUITE_P(Postgres, LeaseContract,
                         ::testing::Values(LeaseKind{"Store", make_store,
                                                     [] { return open_in(last_schema); }}),
                         store::testing::name_of_lease_kind);

void put_numbered(Store& store, int from, int to, std::string_view value) {
    auto batch = store.make_batch();
    for (auto number = from; number < to; ++number) {
        batch->put(fmt::format("key{:06}", number), value);
    }
    auto done = store.commit(*batch);
    ASSERT_TRUE(done) << done.error().message;
}

std::size_t count_of(Cursor& cursor, std::string_view value) {
    auto count = std::size_t{0};
    for (; cursor.is_valid(); cursor.next()) {
        count += cursor.value() == value ? 1 : 1'000'000;
    }
    EXPECT_TRUE(cursor.status());
    return count;
}

TEST(PostgresStore, KeepsWhatWasCommitted) {
    NEEDS_POSTGRES();
    auto schema = new_schema();
    auto shards = std::vector{ShardId{0}, ShardId{3}};
    {
        auto store = open_in(schema);
        ASSERT_TRUE(store->acquire(shards));
        auto batch = store->make_batch();
        batch->put("key", "value");
        batch->fence({ShardId{3}, Epoch{1}, CommitNumber{0}});
        ASSERT_TRUE(store->commit(*batch));
    }
    auto store = open_in(schema);

    EXPECT_EQ(store->get("key").value(), "value");
    auto states = store->acquire(shards).value();
    EXPECT_EQ(states[0].commit, CommitNumber{0});
    EXPECT_EQ(states[1].commit, CommitNumber{1});
    EXPECT_EQ(states[1].epoch, Epoch{2});
}

TEST(PostgresStore, KeepsItsShardCountWhateverIsAskedForLater) {
    NEEDS_POSTGRES();
    auto schema = new_schema();
    open_in(schema);
    auto options = options_of(schema);
    options.shard_count = 64;

    EXPECT_EQ(PostgresStore::open(options).value()->shard_count(), 4);
}

TEST(PostgresStore, SeveralMayMakeTheTablesAtOnce) {
    NEEDS_POSTGRES();
    auto schema = new_schema();
    auto failures = std::atomic<int>{0};
    auto threads = std::vector<std::thread>{};
    for (auto left = 4; left > 0; --left) {
        threads.emplace_back([&] { failures += PostgresStore::open(options_of(schema)) ? 0 : 1; });
    }
    for (auto& thread : threads) {
        thread.join();
    }

    EXPECT_EQ(failures, 0);
}

TEST(PostgresStore, LongScansKeepTheirMomentAlsoManyAtOnce) {
    NEEDS_POSTGRES();
    auto store = open_in(new_schema());
    put_numbered(*store, 0, 10'000, "old");
    auto cursors = std::vector<std::unique_ptr<Cursor>>{};
    for (auto left = 70; left > 0; --left) {
        cursors.push_back(store->scan("key", "kez"));
    }
    auto to_end = store->scan("key005000", {});
    put_numbered(*store, 0, 10'500, "new");
    auto later = store->scan({}, {});
    cursors.erase(cursors.begin(), cursors.begin() + 60);

    for (const auto& cursor : cursors) {
        EXPECT_EQ(count_of(*cursor, "old"), 10'000);
    }
    EXPECT_EQ(count_of(*to_end, "old"), 5'000);
    EXPECT_EQ(count_of(*later, "new"), 10'500);
    cursors.clear();
    EXPECT_EQ(shared_server()->ask("SELECT count(*) FROM pg_stat_activity WHERE state = "
                                   "'idle in transaction'"),
              "0");
}

TEST(PostgresStore, ScansThatEndExactlyWithAPageEnd) {
    NEEDS_POSTGRES();
    auto store = open_in(new_schema());
    put_numbered(*store, 0, 128, "v");
    EXPECT_EQ(count_of(*store->scan({}, {}), "v"), 128);
    put_numbered(*store, 128, 4096, "v");
    EXPECT_EQ(count_of(*store->scan({}, {}), "v"), 4096);
}

TEST(PostgresStore, TakesBatchesLargerThanOneStatement) {
    NEEDS_POSTGRES();
    auto store = open_in(new_schema());
    auto value = std::string(std::size_t{1} << 20U, 'v');

    put_numbered(*store, 0, 20, value);

    EXPECT_EQ(count_of(*store->scan({}, {}), value), 20);
    EXPECT_GT(store->disk_bytes(), std::size_t{20} << 20U);
    auto batch = store->make_batch();
    batch->remove_range("key", "kez");
    ASSERT_TRUE(store->commit(*batch));
    EXPECT_TRUE(store->compact());
}

TEST(PostgresStore, RefusesKeysThatNoIndexTakes) {
    NEEDS_POSTGRES();
    auto store = open_in(new_schema());
    auto longest = std::string(2600, 'k');
    for (auto& byte : longest) {
        byte = static_cast<char>(&byte - longest.data());
    }
    auto batch = store->make_batch();
    batch->put(longest, "value");
    ASSERT_TRUE(store->commit(*batch));
    batch->put(longest + "k", "value");

    EXPECT_EQ(store->commit(*batch).error().code, Errc::LimitExceeded);
    EXPECT_EQ(store->get(longest).value(), "value");
    EXPECT_EQ(store->get(longest + "k").value(), std::nullopt);
}

TEST(PostgresStore, OwnersThatWantTheSameShardsDoNotWaitForEachOther) {
    NEEDS_POSTGRES();
    auto schema = new_schema();
    auto one = open_in(schema);
    auto two = open_in(schema);
    auto done = std::atomic<int>{0};
    for (auto round = std::uint64_t{0}; round < 100; ++round) {
        auto commit = [&](Store& store, ShardId first, ShardId second) {
            auto batch = store.make_batch();
            batch->fence({first, Epoch{0}, CommitNumber{round}});
            batch->fence({second, Epoch{0}, CommitNumber{round}});
            auto result = store.commit(*batch);
            done += result ? 1 : result.error().code == Errc::Stale ? 0 : 1000;
        };
        auto other = std::thread{[&] { commit(*two, ShardId{2}, ShardId{1}); }};
        commit(*one, ShardId{1}, ShardId{2});
        other.join();
    }

    EXPECT_EQ(done, 100);
    EXPECT_EQ(shared_server()->ask("SELECT sum(deadlocks) FROM pg_stat_database"), "0");
}

TEST(PostgresStore, AFormerOwnerInAnotherProcessIsRefused) {
    NEEDS_POSTGRES();
    auto schema = new_schema();
    auto former = open_in(schema);
    auto latter = open_in(schema);
    auto shards = std::vector{ShardId{1}};
    ASSERT_TRUE(former->acquire(shards));
    auto batch = former->make_batch();
    batch->put("a", "former");
    batch->fence({ShardId{1}, Epoch{1}, CommitNumber{0}});
    ASSERT_TRUE(latter->acquire(shards));

    auto refused = former->commit(*batch);

    EXPECT_EQ(refused.error().code, Errc::Stale);
    EXPECT_EQ(refused.error().message,
              "shard 1 is at epoch 2 commit 0, the batch stands on epoch 1 commit 0");
    EXPECT_EQ(latter->get("a").value(), std::nullopt);
}

TEST(PostgresStore, RefusesWhatANewerReleaseMade) {
    NEEDS_POSTGRES();
    auto schema = new_schema();
    open_in(schema);
    ASSERT_TRUE(
        shared_server()->ask("UPDATE " + schema + ".meta SET value = '2' WHERE name = 'format'"));

    auto refused = PostgresStore::open(options_of(schema));

    EXPECT_EQ(refused.error().code, Errc::Unsupported);
    EXPECT_THAT(refused.error().message, HasSubstr("has format 2, this program knows up to 1"));
}

TEST(PostgresStore, RefusesTablesThatAreNotAsItMadeThem) {
    NEEDS_POSTGRES();
    for (const auto* damage :
         {"UPDATE meta SET value = 'x' WHERE name = 'format'",
          "DELETE FROM meta WHERE name = 'shards'", "DELETE FROM shards WHERE shard = 2",
          "DROP TABLE entries", "DROP TABLE meta; CREATE TABLE meta (something int)",
          "ALTER TABLE members DROP COLUMN term", "DROP TABLE shards"}) {
        auto schema = new_schema();
        open_in(schema);
        ASSERT_TRUE(shared_server()->ask("SET search_path = " + schema + "; " + damage));

        auto refused = PostgresStore::open(options_of(schema));

        ASSERT_FALSE(refused) << damage;
        EXPECT_EQ(refused.error().code, Errc::Corrupt) << refused.error().message;
    }
}

TEST(PostgresStore, SaysAtOnceThatAPasswordIsWrong) {
    NEEDS_POSTGRES();
    auto url = shared_server()->url("s");
    url.replace(url.find("hidden"), 6, "not-the-one");

    auto refused = PostgresStore::open(Options::parse(url).value());

    EXPECT_EQ(refused.error().code, Errc::InvalidInput);
    EXPECT_THAT(refused.error().message, HasSubstr("authentication failed"));
    EXPECT_THAT(refused.error().message, Not(HasSubstr("not-the-one")));
}

TEST(PostgresStore, NeedsNoMoreThanASchemaOfItsOwn) {
    NEEDS_POSTGRES();
    ASSERT_TRUE(
        shared_server()->ask("CREATE ROLE plain LOGIN PASSWORD 'hidden'; CREATE SCHEMA "
                             "plain AUTHORIZATION plain"));
    auto options = Options::parse(shared_server()->url_of("plain", "plain")).value();
    auto store = PostgresStore::open(options);
    ASSERT_TRUE(store) << store.error().message;
    auto batch = (*store)->make_batch();
    batch->put("a", "1");
    ASSERT_TRUE((*store)->commit(*batch));
    // Lost in the middle, it must be able to end its own process at the server.
    ASSERT_TRUE(
        shared_server()->ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                             "usename = 'plain'"));

    EXPECT_TRUE((*store)->commit(*batch));
    EXPECT_TRUE((*store)->leases()->renew({.id = "m", .address = ""}, std::chrono::seconds{1}));
    EXPECT_TRUE((*store)->compact());
    EXPECT_GT((*store)->disk_bytes(), 0);
}

TEST(PostgresStore, RefusesStrictWhereTheServerDoesNotWaitForTheDisk) {
    NEEDS_POSTGRES();
    auto schema = new_schema();
    open_in(schema);
    ASSERT_TRUE(
        shared_server()->ask("CREATE ROLE hasty SUPERUSER LOGIN PASSWORD 'hidden'; ALTER "
                             "ROLE hasty SET synchronous_commit = off"));
    auto options = Options::parse(shared_server()->url_of("hasty", schema)).value();

    auto refused = PostgresStore::open(options);

    EXPECT_EQ(refused.error().code, Errc::InvalidInput);
    EXPECT_THAT(refused.error().message, HasSubstr("durability strict needs"));
    EXPECT_THAT(refused.error().message, HasSubstr("synchronous_commit = off"));
    options.durability = Durability::Relaxed;
    EXPECT_TRUE(PostgresStore::open(options));
    options.durability = Durability::Memory;
    EXPECT_EQ(PostgresStore::open(options).error().code, Errc::InvalidInput);
}

} // namespace
} // namespace sluice::store::postgres
