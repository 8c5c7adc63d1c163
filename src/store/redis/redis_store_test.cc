#include "store/redis/redis_store.h"

#include <fstream>
#include <iterator>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "resp/client.h"
#include "store/redis/testing/redis_cluster.h"
#include "store/redis/testing/shared_server.h"
#include "store/testing/lease_contract.h"
#include "store/testing/store_contract.h"

namespace sluice::store::redis {
namespace {

using resp::testing::RedisServer;
using resp::testing::Secured;
using store::testing::LeaseContract;
using store::testing::LeaseKind;
using store::testing::StoreContract;
using store::testing::StoreKind;
using ::testing::HasSubstr;

auto last_options = Options{};

std::unique_ptr<Store> open_last() {
    auto store = RedisStore::open(last_options);
    EXPECT_TRUE(store) << store.error().message;
    return store ? std::move(*store) : nullptr;
}

std::unique_ptr<Store> open_fresh() {
    if (testing::shared_server() == nullptr) {
        return nullptr;
    }
    last_options = testing::fresh_options();
    return open_last();
}

std::unique_ptr<Store> open_fresh_in_cluster() {
    if (testing::shared_cluster() == nullptr) {
        return nullptr;
    }
    last_options = testing::fresh_cluster_options();
    return open_last();
}

INSTANTIATE_TEST_SUITE_P(Redis, StoreContract,
                         ::testing::Values(StoreKind{"Store", open_fresh},
                                           StoreKind{"Cluster", open_fresh_in_cluster,
                                                     Atomicity::Shard}),
                         store::testing::name_of_kind);
INSTANTIATE_TEST_SUITE_P(Redis, LeaseContract,
                         ::testing::Values(LeaseKind{"Store", open_fresh, open_last},
                                           LeaseKind{"Cluster", open_fresh_in_cluster, open_last}),
                         store::testing::name_of_lease_kind);

class RedisStoreTest : public ::testing::Test {
public:
    void SetUp() override {
        if (!resp::testing::is_redis_installed()) {
            GTEST_SKIP() << "redis-server is not installed";
        }
    }
    /// A server of the test's own.
    void start(resp::testing::Settings settings = {}) {
        server = RedisServer::start(std::move(settings));
        ASSERT_NE(server, nullptr) << "redis-server does not start";
        options = testing::options_of(*server);
    }
    void open() {
        auto opened = RedisStore::open(options);
        ASSERT_TRUE(opened) << opened.error().message;
        store = std::move(*opened);
    }
    static std::string fault_of(const Options& with) {
        auto opened = RedisStore::open(with);
        return opened ? "none" : opened.error().message;
    }
    std::string tell(const auto&... words) const {
        auto client = resp::Client::connect(server->options());
        EXPECT_TRUE(client);
        auto reply = client->call(words...);
        EXPECT_TRUE(reply) << reply.error().message;
        return reply ? std::string{reply->text()} : "";
    }
    static Result<void> put(Store& into, std::string_view key, std::string_view value) {
        auto batch = into.make_batch();
        batch->put(key, value);
        return into.commit(*batch);
    }
    static bool wait_for(const auto& condition) {
        auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{30};
        while (!condition()) {
            if (std::chrono::steady_clock::now() > limit) {
                return false;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
        }
        return true;
    }

    std::unique_ptr<RedisServer> server;
    Options options;
    std::unique_ptr<RedisStore> store;
    ShardId shard{2};
};

TEST_F(RedisStoreTest, ReadsMoreThanAPage) {
    options = testing::fresh_options();
    ASSERT_NO_FATAL_FAILURE(open());
    constexpr auto count = 12'000;
    auto key_of = [](int number) {
        auto name = fmt::format("k{:05}", number);
        return std::string{'\0', static_cast<char>(number * 5 / count)} + name;
    };
    auto batch = store->make_batch();
    for (auto number = 0; number < count; ++number) {
        batch->put(key_of(number), std::to_string(number));
    }
    ASSERT_TRUE(store->commit(*batch));
    ASSERT_TRUE(put(*store, key_of(0), std::string(3 << 20U, 'v')));

    auto cursor = store->scan({}, {});
    for (auto number = 0; number < count; ++number) {
        ASSERT_TRUE(cursor->is_valid()) << number << cursor->status().error().message;
        ASSERT_EQ(cursor->key(), key_of(number));
        ASSERT_EQ(cursor->value().size(), number == 0 ? 3 << 20U : std::to_string(number).size());
        cursor->next();
    }
    EXPECT_FALSE(cursor->is_valid());
    EXPECT_TRUE(cursor->status());

    batch->clear();
    batch->remove_range(key_of(10), key_of(count - 10));
    ASSERT_TRUE(store->commit(*batch));
    auto left = 0;
    for (cursor = store->scan({}, {}); cursor->is_valid(); cursor->next()) {
        ++left;
    }
    EXPECT_EQ(left, 20);
}

TEST_F(RedisStoreTest, RemovesManyKeysAtOnce) {
    options = testing::fresh_options();
    ASSERT_NO_FATAL_FAILURE(open());
    auto batch = store->make_batch();
    for (auto number = 0; number < 3000; ++number) {
        batch->put(std::to_string(number), "v");
    }
    ASSERT_TRUE(store->commit(*batch));
    batch->clear();
    for (auto number = 0; number < 3000; number += 2) {
        batch->remove(std::to_string(number));
    }
    ASSERT_TRUE(store->commit(*batch));

    auto left = 0;
    for (auto cursor = store->scan({}, {}); cursor->is_valid(); cursor->next()) {
        EXPECT_EQ(std::stoi(std::string{cursor->key()}) % 2, 1);
        ++left;
    }
    EXPECT_EQ(left, 1500);
}

TEST_F(RedisStoreTest, KeepsItsShardsAndWhatWasPut) {
    options = testing::fresh_options();
    ASSERT_NO_FATAL_FAILURE(open());
    ASSERT_TRUE(put(*store, "key", "value"));
    options.shard_count = 9;
    ASSERT_NO_FATAL_FAILURE(open());
    EXPECT_EQ(store->shard_count(), 4);
    EXPECT_EQ(**store->get("key"), "value");

    options.prefix += "x";
    ASSERT_NO_FATAL_FAILURE(open());
    EXPECT_EQ(store->shard_count(), 9);
    EXPECT_EQ(*store->get("key"), std::nullopt);
}

TEST_F(RedisStoreTest, AStoreOfANewerProgramIsRefused) {
    options = testing::fresh_options();
    ASSERT_NO_FATAL_FAILURE(open());
    auto client = resp::Client::connect(options.server);
    ASSERT_TRUE(client->call("HSET", "{" + options.prefix + "}:meta", "format", 2));

    EXPECT_THAT(fault_of(options), HasSubstr("has format 2, this program knows 1"));
    EXPECT_EQ(RedisStore::open(options).error().code, Errc::Unsupported);
}

TEST_F(RedisStoreTest, StrictNeedsEveryWriteSynced) {
    ASSERT_NO_FATAL_FAILURE(start({.arguments = {"--appendfsync", "everysec"}}));

    EXPECT_THAT(fault_of(options), HasSubstr("set appendfsync always"));
    EXPECT_EQ(RedisStore::open(options).error().code, Errc::InvalidInput);
    options.settings = Settings::Trusted;
    EXPECT_EQ(fault_of(options), "none");
    options.settings = Settings::Checked;
    options.durability = Durability::Relaxed;
    EXPECT_EQ(fault_of(options), "none");

    options.durability = Durability::Strict;
    tell("CONFIG", "SET", "appendfsync", "always", "no-appendfsync-on-rewrite", "yes");
    EXPECT_THAT(fault_of(options), HasSubstr("set no-appendfsync-on-rewrite no"));
    tell("CONFIG", "SET", "no-appendfsync-on-rewrite", "no", "maxmemory-policy", "allkeys-lru");
    EXPECT_THAT(fault_of(options), HasSubstr("set maxmemory-policy noeviction"));
    tell("CONFIG", "SET", "maxmemory-policy", "volatile-lru", "appendonly", "no");
    EXPECT_THAT(fault_of(options), HasSubstr("set appendonly yes"));
    options.durability = Durability::Relaxed;
    EXPECT_THAT(fault_of(options), HasSubstr("set appendonly yes"));
    options.durability = Durability::Memory;
    EXPECT_EQ(fault_of(options), "none");
}

TEST_F(RedisStoreTest, AServerThatDoesNotTellHasToBeTrusted) {
    ASSERT_NO_FATAL_FAILURE(start({.arguments = {"--rename-command", "CONFIG", ""}}));

    EXPECT_THAT(fault_of(options), HasSubstr("give settings=trusted"));
    options.settings = Settings::Trusted;
    EXPECT_EQ(fault_of(options), "none");
}

TEST_F(RedisStoreTest, OpensByUrlWithPasswordAndTls) {
    ASSERT_NO_FATAL_FAILURE(start({.password = "hunter2", .tls = Secured::Yes}));
    auto parsed = parse_options(server->url("mine", "shards=2"));
    ASSERT_TRUE(parsed) << parsed.error().message;
    options = *parsed;
    ASSERT_NO_FATAL_FAILURE(open());

    EXPECT_TRUE(put(*store, "key", "value"));
    EXPECT_EQ(store->shard_count(), 2);
    EXPECT_EQ(tell("TYPE", "{mine:catalog}:values"), "hash");
}

TEST_F(RedisStoreTest, AFormerOwnerInAnotherProcessIsRefused) {
    options = testing::fresh_options();
    ASSERT_NO_FATAL_FAILURE(open());
    auto states = store->acquire(std::vector{shard});
    auto successor = RedisStore::open(options);
    auto later = (*successor)->acquire(std::vector{shard});
    ASSERT_TRUE(states && later);

    auto batch = store->make_batch();
    batch->put("a", "1");
    batch->fence({shard, (*states)[0].epoch, (*states)[0].commit});
    auto refused = store->commit(*batch);
    EXPECT_EQ(refused.error().code, Errc::Stale);
    EXPECT_THAT(refused.error().message, HasSubstr("shard 2 is at epoch 2 commit 0"));
    EXPECT_EQ(*store->get("a"), std::nullopt);
}

TEST_F(RedisStoreTest, CommitsGoOnOverAServerThatIsKilled) {
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_NO_FATAL_FAILURE(open());
    auto state = (*store->acquire(std::vector{shard}))[0];
    auto done = std::atomic<std::uint64_t>{0};
    auto is_over = std::atomic<bool>{false};
    auto writer = std::thread{[&] {
        auto batch = store->make_batch();
        while (!is_over) {
            batch->clear();
            batch->put(fmt::format("n{:06}", done.load()), "v");
            batch->put("last", std::to_string(done.load()));
            batch->fence({shard, state.epoch, CommitNumber{done.load()}});
            auto committed = store->commit(*batch);
            EXPECT_TRUE(committed) << committed.error().message;
            if (!committed) {
                return;
            }
            ++done;
        }
    }};
    for (auto round = 0; round < 5; ++round) {
        auto before = done.load();
        EXPECT_TRUE(wait_for([&] { return done > before + 20; }));
        EXPECT_TRUE(server->restart());
    }
    auto before = done.load();
    EXPECT_TRUE(wait_for([&] { return done > before + 20; }));
    is_over = true;
    writer.join();

    EXPECT_EQ((*store->acquire(std::vector{shard}))[0].commit, CommitNumber{done.load()});
    EXPECT_EQ(**store->get("last"), std::to_string(done - 1));
    auto number = std::uint64_t{0};
    for (auto cursor = store->scan("n", "o"); cursor->is_valid(); cursor->next()) {
        EXPECT_EQ(cursor->key(), fmt::format("n{:06}", number++));
    }
    EXPECT_EQ(number, done);
}

TEST_F(RedisStoreTest, ACommitWhoseAnswerIsLostIsDoneOnce) {
    ASSERT_NO_FATAL_FAILURE(start());
    options.server.call_limit = std::chrono::milliseconds{100};
    options.server.connect_limit = std::chrono::milliseconds{100};
    ASSERT_NO_FATAL_FAILURE(open());
    auto state = (*store->acquire(std::vector{shard}))[0];
    ASSERT_TRUE(put(*store, "warm", "up"));
    // What waits in the server's socket is done once it wakes, long after we gave up on it.
    server->pause();
    auto waker = std::thread{[&] {
        std::this_thread::sleep_for(std::chrono::milliseconds{400});
        server->resume();
    }};
    auto batch = store->make_batch();
    batch->put("a", "1");
    batch->fence({shard, state.epoch, state.commit});
    auto committed = store->commit(*batch);
    waker.join();
    EXPECT_TRUE(committed) << committed.error().message;
    EXPECT_EQ((*store->acquire(std::vector{shard}))[0].commit, CommitNumber{1});

    server->pause();
    auto again = std::thread{[&] {
        std::this_thread::sleep_for(std::chrono::milliseconds{400});
        server->resume();
    }};
    auto unfenced = put(*store, "b", "1");
    auto epoch = store->acquire(std::vector{shard});
    again.join();
    EXPECT_TRUE(unfenced) << unfenced.error().message;
    ASSERT_TRUE(epoch);
    EXPECT_EQ((*epoch)[0].epoch, Epoch{3});
}

TEST_F(RedisStoreTest, PatienceEnds) {
    ASSERT_NO_FATAL_FAILURE(start());
    options.patience = std::chrono::milliseconds{100};
    ASSERT_NO_FATAL_FAILURE(open());
    server->kill();

    EXPECT_EQ(put(*store, "a", "1").error().code, Errc::Unavailable);
    EXPECT_EQ(store->get("a").error().code, Errc::Unavailable);
    auto cursor = store->scan({}, {});
    EXPECT_FALSE(cursor->is_valid());
    EXPECT_EQ(cursor->status().error().code, Errc::Unavailable);
    EXPECT_EQ(store->leases()->renew({"m", ""}, std::chrono::seconds{1}).error().code,
              Errc::Unavailable);
    options.server.connect_limit = std::chrono::milliseconds{100};
    EXPECT_THAT(fault_of(options), HasSubstr("Connection refused"));
}

TEST_F(RedisStoreTest, AServerWithoutMemoryTakesNothing) {
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_NO_FATAL_FAILURE(open());
    auto state = (*store->acquire(std::vector{shard}))[0];
    auto batch = store->make_batch();
    batch->remove("a");
    batch->put("a", "1");
    batch->fence({shard, state.epoch, state.commit});
    EXPECT_TRUE(store->is_writable());
    tell("CONFIG", "SET", "maxmemory", "1");
    EXPECT_EQ(store->commit(*batch).error().code, Errc::NoSpace);
    EXPECT_FALSE(store->is_writable());
    EXPECT_EQ(*store->get("a"), std::nullopt);

    tell("CONFIG", "SET", "maxmemory", "0");
    EXPECT_TRUE(wait_for([&] { return store->is_writable(); }));
    EXPECT_TRUE(store->commit(*batch));
}

TEST_F(RedisStoreTest, AMasterThatBecameAReplicaTakesNothing) {
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_NO_FATAL_FAILURE(open());
    ASSERT_TRUE(put(*store, "a", "1"));
    tell("REPLICAOF", "127.0.0.1", "1");
    EXPECT_EQ(put(*store, "a", "2").error().code, Errc::NoSpace);
    EXPECT_FALSE(store->is_writable());

    tell("REPLICAOF", "NO", "ONE");
    EXPECT_TRUE(wait_for([&] { return store->is_writable(); }));
    EXPECT_EQ(**store->get("a"), "1");
    EXPECT_TRUE(put(*store, "a", "3"));
}

TEST_F(RedisStoreTest, ScriptsThatWereFlushedAreLoadedAnew) {
    options = testing::fresh_options();
    ASSERT_NO_FATAL_FAILURE(open());
    ASSERT_TRUE(put(*store, "a", "1"));
    auto client = resp::Client::connect(options.server);
    ASSERT_TRUE(client->call("SCRIPT", "FLUSH"));

    EXPECT_TRUE(put(*store, "a", "2"));
    EXPECT_EQ(**store->get("a"), "2");
}

TEST_F(RedisStoreTest, WaitsForReplicas) {
    ASSERT_NO_FATAL_FAILURE(start());
    options.replicas = 1;
    options.patience = std::chrono::milliseconds{50};
    options.server.call_limit = std::chrono::milliseconds{400};
    ASSERT_NO_FATAL_FAILURE(open());
    auto alone = put(*store, "a", "1");
    EXPECT_EQ(alone.error().code, Errc::Unavailable);
    EXPECT_THAT(alone.error().message, HasSubstr("0 of 1 replicas"));

    auto replica = RedisServer::start(
        {.arguments = {"--replicaof", "127.0.0.1 " + std::to_string(server->port())}});
    ASSERT_NE(replica, nullptr);
    options.patience = std::chrono::seconds{30};
    ASSERT_NO_FATAL_FAILURE(open());
    EXPECT_TRUE(put(*store, "a", "2"));

    auto wrong = testing::options_of(*replica);
    wrong.server.connect_limit = std::chrono::milliseconds{100};
    EXPECT_THAT(fault_of(wrong), HasSubstr("is a replica: name its master"));
}

TEST_F(RedisStoreTest, WhatIsRemovedIsInNoFileOnceCompacted) {
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_NO_FATAL_FAILURE(open());
    auto has_secret = [&] {
        for (const auto& file : std::filesystem::recursive_directory_iterator{server->folder()}) {
            if (!file.is_regular_file()) {
                continue;
            }
            auto in = std::ifstream{file.path(), std::ios::binary};
            auto text = std::string{std::istreambuf_iterator<char>{in}, {}};
            if (text.contains("very-secret")) {
                return true;
            }
        }
        return false;
    };
    ASSERT_TRUE(put(*store, "a", "very-secret"));
    auto batch = store->make_batch();
    batch->remove("a");
    ASSERT_TRUE(store->commit(*batch));
    EXPECT_TRUE(has_secret());
    EXPECT_GT(store->disk_bytes(), 100);

    ASSERT_TRUE(store->compact());
    EXPECT_TRUE(wait_for([&] { return !has_secret(); }));
}

TEST_F(RedisStoreTest, SyncsWhereTheServerDoesSoOnceASecond) {
    ASSERT_NO_FATAL_FAILURE(start({.arguments = {"--appendfsync", "everysec"}}));
    options.durability = Durability::Relaxed;
    ASSERT_NO_FATAL_FAILURE(open());
    ASSERT_TRUE(put(*store, "a", "1"));

    EXPECT_TRUE(store->sync());
    EXPECT_EQ(tell("INFO", "persistence").contains("aof_pending_bio_fsync:0"), true);
}

} // namespace
} // namespace sluice::store::redis
