#include "store/redis/testing/redis_cluster.h"

#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/redis/internal/keyspace.h"
#include "store/redis/internal/scripts.h"
#include "store/redis/internal/slots.h"
#include "store/redis/redis_store.h"

namespace sluice::store::redis {
namespace {

using internal::Keyspace;
using ::testing::HasSubstr;
using testing::RedisCluster;

/// A store whose shards 0, 1 and 2 are at the nodes 0, 1 and 2.
class RedisClusterTest : public ::testing::Test {
public:
    void SetUp() override {
        if (!resp::testing::is_redis_installed()) {
            GTEST_SKIP() << "redis-server is not installed";
        }
    }
    /// A cluster of the test's own when it is to be harmed.
    void start(RedisCluster* with) {
        cluster = with;
        ASSERT_NE(cluster, nullptr) << "the cluster does not come up";
        static auto number = 0;
        options = cluster->options();
        auto is_spread = [&] {
            options.prefix = "spread" + std::to_string(++number);
            for (auto table = std::uint16_t{0}; table < 3; ++table) {
                auto slot = internal::slot_of(keys().state_of(table));
                if (unsigned{slot} * 3 / internal::slot_count != table) {
                    return false;
                }
            }
            return true;
        };
        while (!is_spread()) {
        }
    }
    void start_own() {
        own = RedisCluster::start();
        start(own.get());
    }
    void open() {
        auto opened = RedisStore::open(options);
        ASSERT_TRUE(opened) << opened.error().message;
        store = std::move(*opened);
        auto states = store->acquire(shards);
        ASSERT_TRUE(states) << states.error().message;
    }
    Keyspace keys() const { return Keyspace{options.prefix, 4}; }
    static std::string key_in(unsigned shard, std::string_view rest) {
        return std::string{'\0', static_cast<char>(shard)} + std::string{rest};
    }
    /// A commit of all shards, each standing on `number`.
    Result<void> commit_all(std::uint64_t number) {
        auto batch = store->make_batch();
        for (auto shard : shards) {
            batch->fence({shard, Epoch{1}, CommitNumber{number}});
            batch->put(key_in(shard.raw(), fmt::format("n{:05}", number)), "v");
        }
        return store->commit(*batch);
    }
    Result<void> put(std::string_view key, std::string_view value) {
        auto batch = store->make_batch();
        batch->put(key, value);
        return store->commit(*batch);
    }
    void expect_commits(std::uint64_t count) {
        auto states = store->acquire(shards);
        ASSERT_TRUE(states);
        for (auto shard : shards) {
            EXPECT_EQ((*states)[shard.raw()].commit, CommitNumber{count}) << shard.raw();
            auto number = std::uint64_t{0};
            auto end = key_in(shard.raw() + 1U, "");
            for (auto cursor = store->scan(key_in(shard.raw(), "n"), end); cursor->is_valid();
                 cursor->next()) {
                EXPECT_EQ(cursor->key(), key_in(shard.raw(), fmt::format("n{:05}", number++)));
            }
            EXPECT_EQ(number, count);
        }
    }
    static bool wait_for(const auto& condition) {
        auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{60};
        while (!condition()) {
            if (std::chrono::steady_clock::now() > limit) {
                return false;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
        }
        return true;
    }
    /// Commits all shards again and again while `meanwhile` goes on.
    void commit_while(const auto& meanwhile) {
        auto done = std::atomic<std::uint64_t>{0};
        auto is_over = std::atomic<bool>{false};
        auto writer = std::thread{[&] {
            while (!is_over) {
                auto committed = commit_all(done);
                EXPECT_TRUE(committed) << committed.error().message;
                if (!committed) {
                    return;
                }
                ++done;
            }
        }};
        auto goes_on = [&] {
            auto before = done.load();
            EXPECT_TRUE(wait_for([&] { return done > before + 10; }));
        };
        goes_on();
        meanwhile(goes_on);
        goes_on();
        is_over = true;
        writer.join();
        expect_commits(done);
    }
    /// A slot begins to move; what it has goes at once.
    void begin_move(std::uint16_t slot, std::size_t from, std::size_t to) const {
        EXPECT_EQ(cluster->tell(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", cluster->id_of(from)),
                  "OK");
        EXPECT_EQ(cluster->tell(from, "CLUSTER", "SETSLOT", slot, "MIGRATING", cluster->id_of(to)),
                  "OK");
        auto client = resp::Client::connect(cluster->node(from).options());
        ASSERT_TRUE(client);
        for (;;) {
            auto found = client->call("CLUSTER", "GETKEYSINSLOT", slot, 1);
            ASSERT_TRUE(found);
            if (found->size() == 0) {
                return;
            }
            auto key = std::string{found->item(0).text()};
            auto moved =
                client->call("MIGRATE", "127.0.0.1", cluster->node(to).port(), key, 0, 5000);
            ASSERT_TRUE(moved) << moved.error().message;
        }
    }
    void end_move(std::uint16_t slot, std::size_t from, std::size_t to) const {
        for (auto at : {to, from, 3 - to - from}) {
            EXPECT_EQ(cluster->tell(at, "CLUSTER", "SETSLOT", slot, "NODE", cluster->id_of(to)),
                      "OK");
        }
    }

    RedisCluster* cluster = nullptr;
    std::unique_ptr<RedisCluster> own;
    Options options;
    std::unique_ptr<RedisStore> store;
    std::vector<ShardId> shards{ShardId{0}, ShardId{1}, ShardId{2}, ShardId{3}};
};

TEST_F(RedisClusterTest, HasEachShardAtItsNode) {
    ASSERT_NO_FATAL_FAILURE(start(testing::shared_cluster()));
    ASSERT_NO_FATAL_FAILURE(open());
    ASSERT_TRUE(commit_all(0));

    for (auto shard = std::uint16_t{0}; shard < 3; ++shard) {
        EXPECT_EQ(cluster->tell(shard, "HGET", keys().state_of(shard), "commit"), "1");
        EXPECT_EQ(cluster->holder_of(keys().values_of(shard)), shard);
    }
    expect_commits(1);
}

TEST_F(RedisClusterTest, OfABatchTheStaleShardAloneIsRefused) {
    ASSERT_NO_FATAL_FAILURE(start(testing::shared_cluster()));
    ASSERT_NO_FATAL_FAILURE(open());
    auto other = RedisStore::open(options);
    ASSERT_TRUE(other);
    ASSERT_TRUE((*other)->acquire(std::vector{ShardId{1}}));

    auto refused = commit_all(0);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::Stale);
    EXPECT_THAT(refused.error().message, HasSubstr("shard 1 is at epoch 2 commit 0"));
    EXPECT_EQ(*store->get(key_in(1, "n00000")), std::nullopt);
    EXPECT_EQ(**store->get(key_in(2, "n00000")), "v");
    auto states = store->acquire(shards);
    ASSERT_TRUE(states);
    EXPECT_EQ((*states)[0].commit, CommitNumber{1});
    EXPECT_EQ((*states)[1].commit, CommitNumber{0});
}

TEST_F(RedisClusterTest, FollowsSlotsThatMoveWhileItWrites) {
    ASSERT_NO_FATAL_FAILURE(start(testing::shared_cluster()));
    ASSERT_NO_FATAL_FAILURE(open());
    auto slot = internal::slot_of(keys().state_of(0));
    commit_while([&](const auto& goes_on) {
        begin_move(slot, 0, 1);
        end_move(slot, 0, 1);
        goes_on();
        EXPECT_EQ(cluster->holder_of(keys().state_of(0)), 1);
        begin_move(slot, 1, 0);
        end_move(slot, 1, 0);
    });
}

TEST_F(RedisClusterTest, AsksTheOtherNodeWhileASlotIsOnItsWay) {
    ASSERT_NO_FATAL_FAILURE(start(testing::shared_cluster()));
    ASSERT_NO_FATAL_FAILURE(open());
    ASSERT_TRUE(commit_all(0));
    auto slot = internal::slot_of(keys().state_of(2));
    begin_move(slot, 2, 0);

    EXPECT_THAT(cluster->tell(2, "HGET", keys().state_of(2), "commit"), HasSubstr("ASK "));
    auto committed = commit_all(1);
    EXPECT_TRUE(committed) << committed.error().message;
    EXPECT_EQ(**store->get(key_in(2, "n00001")), "v");
    expect_commits(2);
    end_move(slot, 2, 0);
    expect_commits(2);
    begin_move(slot, 0, 2);
    end_move(slot, 0, 2);
    expect_commits(2);
}

TEST_F(RedisClusterTest, GoesOnOverMastersThatAreKilled) {
    ASSERT_NO_FATAL_FAILURE(start_own());
    ASSERT_NO_FATAL_FAILURE(open());
    commit_while([&](const auto& goes_on) {
        for (auto node : {1, 0, 2}) {
            EXPECT_TRUE(cluster->node(static_cast<std::size_t>(node)).restart());
            goes_on();
        }
        // Long enough for the others to notice: they refuse everything then.
        cluster->node(1).kill();
        EXPECT_TRUE(wait_for(
            [&] { return cluster->tell(0, "CLUSTER", "INFO").contains("cluster_state:fail"); }));
        EXPECT_TRUE(cluster->node(1).restart());
    });
}

TEST_F(RedisClusterTest, PartsWhoseAnswersAreLostAreDoneOnce) {
    ASSERT_NO_FATAL_FAILURE(start_own());
    options.server.call_limit = std::chrono::milliseconds{100};
    options.server.connect_limit = std::chrono::milliseconds{100};
    options.patience = std::chrono::seconds{30};
    ASSERT_NO_FATAL_FAILURE(open());
    ASSERT_TRUE(commit_all(0));
    for (auto number : {1U, 2U}) {
        cluster->node(number).pause();
        auto waker = std::thread{[&] {
            // What waits in the server's socket is done once it wakes, long after we gave up.
            std::this_thread::sleep_for(std::chrono::milliseconds{400});
            cluster->node(number).resume();
        }};
        auto committed = commit_all(number);
        EXPECT_TRUE(committed) << committed.error().message;
        waker.join();
    }
    expect_commits(3);
}

TEST_F(RedisClusterTest, FindsTheOtherNodesWhenTheFirstIsGone) {
    ASSERT_NO_FATAL_FAILURE(start_own());
    ASSERT_NO_FATAL_FAILURE(open());
    ASSERT_TRUE(commit_all(0));
    // The first as nobody: what a program finds whose URL names a node that was taken away.
    options.server.port = resp::testing::free_port();
    options.server.connect_limit = std::chrono::seconds{2};
    store.reset();
    auto opened = RedisStore::open(options);
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(**(*opened)->get(key_in(0, "n00000")), "v");

    options.nodes.clear();
    EXPECT_THAT(RedisStore::open(options).error().message, HasSubstr("Connection refused"));
}

TEST_F(RedisClusterTest, EveryNodeHasToKeepData) {
    ASSERT_NO_FATAL_FAILURE(start(testing::shared_cluster()));
    EXPECT_EQ(cluster->tell(2, "CONFIG", "SET", "appendfsync", "everysec"), "OK");
    auto refused = RedisStore::open(options);
    EXPECT_EQ(cluster->tell(2, "CONFIG", "SET", "appendfsync", "always"), "OK");

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::InvalidInput);
    EXPECT_THAT(refused.error().message,
                HasSubstr(fmt::format("127.0.0.1:{}", cluster->node(2).port())));
    EXPECT_THAT(refused.error().message, HasSubstr("set appendfsync always"));
}

TEST_F(RedisClusterTest, AMasterWithoutMemoryTakesNothing) {
    ASSERT_NO_FATAL_FAILURE(start(testing::shared_cluster()));
    ASSERT_NO_FATAL_FAILURE(open());
    auto batch = store->make_batch();
    batch->put(key_in(1, "a"), "1");
    batch->fence({ShardId{1}, Epoch{1}, CommitNumber{0}});
    EXPECT_EQ(cluster->tell(1, "CONFIG", "SET", "maxmemory", "1"), "OK");
    auto refused = store->commit(*batch);
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::NoSpace);
    EXPECT_FALSE(store->is_writable());

    // Of a batch that is done in part one cannot say that nothing was written: it is tried again.
    auto helper = std::thread{[&] {
        EXPECT_TRUE(wait_for(
            [&] { return cluster->tell(2, "HGET", keys().state_of(2), "commit") == "1"; }));
        EXPECT_EQ(cluster->tell(1, "CONFIG", "SET", "maxmemory", "0"), "OK");
    }};
    auto committed = commit_all(0);
    helper.join();
    EXPECT_TRUE(committed) << committed.error().message;
    EXPECT_TRUE(wait_for([&] { return store->is_writable(); }));
    expect_commits(1);
}

TEST_F(RedisClusterTest, WaitsForReplicasAndGoesOnWithOneThatTookOver) {
    ASSERT_NO_FATAL_FAILURE(start_own());
    options.replicas = 1;
    options.patience = std::chrono::milliseconds{50};
    options.server.call_limit = std::chrono::milliseconds{400};
    auto opened = RedisStore::open(options);
    ASSERT_TRUE(opened) << opened.error().message;
    auto alone = (*opened)->acquire(std::vector{ShardId{1}});
    ASSERT_FALSE(alone);
    EXPECT_THAT(alone.error().message, HasSubstr("0 of 1 replicas"));

    auto bus_port = std::to_string(resp::testing::free_port());
    auto replica = resp::testing::RedisServer::start(
        {.arguments = {"--cluster-enabled", "yes", "--cluster-node-timeout", "1000",
                       "--cluster-port", bus_port}});
    ASSERT_NE(replica, nullptr);
    auto client = resp::Client::connect(replica->options());
    ASSERT_TRUE(client);
    EXPECT_EQ(cluster->tell(1, "CONFIG", "SET", "repl-diskless-sync-delay", "0"), "OK");
    EXPECT_EQ(cluster->tell(1, "CLUSTER", "MEET", "127.0.0.1", replica->port(), bus_port), "OK");
    EXPECT_TRUE(wait_for(
        [&] { return client->call("CLUSTER", "REPLICATE", cluster->id_of(1)).has_value(); }));
    EXPECT_TRUE(
        wait_for([&] { return cluster->tell(1, "INFO", "replication").contains("state=online"); }));
    options.patience = std::chrono::seconds{30};
    opened = RedisStore::open(options);
    ASSERT_TRUE(opened) << opened.error().message;
    auto batch = (*opened)->make_batch();
    batch->put(key_in(1, "a"), "1");
    auto committed = (*opened)->commit(*batch);
    EXPECT_TRUE(committed) << committed.error().message;
    EXPECT_NE(cluster->tell(1, "GET", keys().probe_of(1)), "");

    // The replica takes over, and has what was waited for.
    options.replicas = 0;
    ASSERT_NO_FATAL_FAILURE(open());
    ASSERT_TRUE(put(key_in(1, "b"), "1"));
    // Once the others have heard of it they let it.
    auto is_known = [&] {
        auto as_replica = "slave " + cluster->id_of(1);
        auto info = client->call("CLUSTER", "INFO");
        return info && info->text().contains("cluster_state:ok") &&
               cluster->tell(0, "CLUSTER", "NODES").contains(as_replica) &&
               cluster->tell(2, "CLUSTER", "NODES").contains(as_replica);
    };
    EXPECT_TRUE(wait_for(is_known));
    cluster->node(1).kill();
    auto after = put(key_in(1, "b"), "2");
    ASSERT_TRUE(after) << after.error().message << cluster->tell(0, "CLUSTER", "NODES")
                       << client->call("CLUSTER", "NODES")->text();
    EXPECT_EQ(**store->get(key_in(1, "a")), "1");
    EXPECT_EQ(**store->get(key_in(1, "b")), "2");
}

TEST_F(RedisClusterTest, WhatIsRemovedIsInNoFileOnceCompacted) {
    ASSERT_NO_FATAL_FAILURE(start_own());
    ASSERT_NO_FATAL_FAILURE(open());
    auto nodes_with_secret = [&] {
        auto count = 0;
        for (auto node : {0U, 1U, 2U}) {
            auto has_secret = false;
            for (const auto& file :
                 std::filesystem::recursive_directory_iterator{cluster->node(node).folder()}) {
                if (file.is_regular_file()) {
                    auto in = std::ifstream{file.path(), std::ios::binary};
                    has_secret |=
                        std::string{std::istreambuf_iterator<char>{in}, {}}.contains("very-secret");
                }
            }
            count += has_secret ? 1 : 0;
        }
        return count;
    };
    auto before = store->disk_bytes();
    for (auto shard : shards) {
        ASSERT_TRUE(put(key_in(shard.raw(), "a"), std::string(10'000, 'x') + "very-secret"));
    }
    auto batch = store->make_batch();
    batch->remove_range({}, {});
    ASSERT_TRUE(store->commit(*batch));
    EXPECT_EQ(nodes_with_secret(), 3);
    EXPECT_GT(store->disk_bytes(), before + 40'000);

    ASSERT_TRUE(store->compact());
    EXPECT_TRUE(wait_for([&] { return nodes_with_secret() == 0; }));
}

TEST_F(RedisClusterTest, WhoIsLateWithAClaimRaisesNothing) {
    ASSERT_NO_FATAL_FAILURE(start(testing::shared_cluster()));
    ASSERT_NO_FATAL_FAILURE(open());
    auto late = Member{.id = "late", .address = ""};
    auto prompt = Member{.id = "prompt", .address = ""};
    auto& leases = *store->leases();
    ASSERT_TRUE(leases.renew(late, std::chrono::minutes{1}));
    // The first half of taking, and then it stands still.
    auto home = cluster->holder_of(keys().owners());
    auto client = resp::Client::connect(cluster->node(home).options());
    ASSERT_TRUE(client);
    auto claimed =
        client->call("EVAL", internal::text_of(internal::Script::Claim), 4, keys().members(),
                     keys().owners(), keys().claims(), keys().lease_by("w"), "late", 1, "w:1", 1);
    ASSERT_TRUE(claimed) << claimed.error().message;
    ASSERT_EQ(claimed->size(), 2);
    auto ticket = std::string{claimed->item(1).text()};
    auto raise = [&](std::string_view with) {
        auto there = resp::Client::connect(cluster->node(1).options());
        auto raised = there->call("EVAL", internal::text_of(internal::Script::Acquire), 1,
                                  keys().state_of(1), with, "w:1");
        EXPECT_TRUE(raised) << raised.error().message;
        return raised->size();
    };

    ASSERT_TRUE(leases.leave(late));
    ASSERT_TRUE(leases.renew(prompt, std::chrono::minutes{1}));
    auto taken = leases.take(prompt, std::vector{ShardId{1}});
    ASSERT_TRUE(taken);
    ASSERT_EQ(taken->size(), 1);
    EXPECT_EQ(raise(ticket), 0);

    auto state = (*taken)[0].second;
    EXPECT_EQ(state.epoch, Epoch{2});
    auto batch = store->make_batch();
    batch->fence({ShardId{1}, state.epoch, state.commit});
    EXPECT_TRUE(store->commit(*batch));
    EXPECT_EQ(raise(std::to_string(std::stoull(ticket) + 1'000'000)), 3);
    EXPECT_EQ(raise(ticket), 3) << "the same attempt again gives what it took";
    EXPECT_EQ(cluster->tell(1, "HGET", keys().state_of(1), "epoch"), "3");
}

} // namespace
} // namespace sluice::store::redis
