// Servers and connections that go away, and what must be true all the same.

#include <atomic>
#include <csignal>
#include <thread>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/postgres/postgres_store.h"
#include "store/postgres/testing/deaf_proxy.h"
#include "store/postgres/testing/shared_server.h"

namespace sluice::store::postgres {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;
using testing::new_schema;
using testing::shared_server;

constexpr auto shard = ShardId{1};

/// Commits one batch after the other on a thread of its own, and knows which were acknowledged.
class Writer {
public:
    explicit Writer(Store& store) : store_(store), thread_([this] { write(); }) {}
    ~Writer() { finish(); }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    void finish() {
        is_done_ = true;
        if (thread_.joinable()) {
            thread_.join();
        }
    }
    /// Until that many more were acknowledged.
    void await(std::uint64_t more) {
        auto wanted = acknowledged_ + more;
        auto limit = std::chrono::steady_clock::now() + 60s;
        while (acknowledged_ < wanted && std::chrono::steady_clock::now() < limit && is_well_) {
            std::this_thread::sleep_for(1ms);
        }
        ASSERT_GE(acknowledged_, wanted) << error_;
    }
    std::uint64_t acknowledged() const { return acknowledged_; }
    const std::string& error() const { return error_; }

private:
    void write() {
        auto batch = store_.make_batch();
        while (!is_done_ && is_well_) {
            auto number = acknowledged_.load();
            batch->clear();
            batch->fence({shard, Epoch{1}, CommitNumber{number}});
            batch->put(fmt::format("k{:06}", number), std::to_string(number));
            batch->put("last", std::to_string(number));
            step(*batch);
            // What no fence covers, as the catalogue.
            batch->clear();
            batch->put("catalog", std::to_string(number));
            if (auto done = store_.commit(*batch); !done) {
                error_ = done.error().message;
                is_well_ = false;
            }
        }
    }
    void step(Batch& batch) {
        auto done = store_.commit(batch);
        if (done) {
            ++acknowledged_;
        } else {
            error_ = done.error().message;
            is_well_ = false;
        }
    }

    Store& store_;
    std::atomic<std::uint64_t> acknowledged_ = 0;
    std::atomic<bool> is_done_ = false;
    std::atomic<bool> is_well_ = true;
    std::string error_;
    std::thread thread_;
};

void expect_each_once(Store& store, const Writer& writer) {
    EXPECT_EQ(writer.error(), "");
    auto states = store.acquire(std::vector{shard});
    ASSERT_TRUE(states) << states.error().message;
    EXPECT_EQ(states->front().commit, CommitNumber{writer.acknowledged()});
    auto number = std::uint64_t{0};
    auto cursor = store.scan("k", "l");
    for (; cursor->is_valid(); cursor->next()) {
        EXPECT_EQ(cursor->value(), std::to_string(number++));
    }
    EXPECT_TRUE(cursor->status());
    EXPECT_EQ(number, writer.acknowledged());
    EXPECT_EQ(store.get("last").value(), std::to_string(number - 1));
    EXPECT_EQ(store.get("catalog").value(), std::to_string(number - 1));
}

Result<std::unique_ptr<PostgresStore>> open_with(
    std::string_view parameters, std::function<void(std::string_view)> report = {}) {
    auto options = TRY(Options::parse(shared_server()->url(new_schema(), parameters)));
    options.shard_count = 4;
    options.report = std::move(report);
    return PostgresStore::open(std::move(options));
}

TEST(PostgresStoreFailure, NothingIsLostOrDoneTwiceWhenTheServerIsKilled) {
    NEEDS_POSTGRES();
    auto store = open_with("").value();
    ASSERT_TRUE(store->acquire(std::vector{shard}));
    auto writer = Writer{*store};
    for (auto left = 2; left > 0; --left) {
        writer.await(30);
        shared_server()->kill();
        ASSERT_TRUE(shared_server()->start());
    }
    writer.await(30);
    writer.finish();

    expect_each_once(*store, writer);
}

TEST(PostgresStoreFailure, NothingIsLostOrDoneTwiceWhenConnectionsAreEnded) {
    NEEDS_POSTGRES();
    auto store = open_with("&application_name=ended").value();
    ASSERT_TRUE(store->acquire(std::vector{shard}));
    auto writer = Writer{*store};
    for (auto left = 15; left > 0; --left) {
        writer.await(3);
        ASSERT_TRUE(
            shared_server()->ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                                 "WHERE application_name = 'ended'"));
        EXPECT_TRUE(store->get("last"));
    }
    writer.finish();

    expect_each_once(*store, writer);
}

TEST(PostgresStoreFailure, ACommitWhoseAnswerIsLostIsNotDoneAgain) {
    NEEDS_POSTGRES();
    auto proxy = testing::DeafProxy{shared_server()->port()};
    auto options = Options::parse(fmt::format("postgres://sluice:hidden@127.0.0.1:{}/postgres?"
                                              "schema={}",
                                              proxy.port(), new_schema()))
                       .value();
    auto store = PostgresStore::open(options).value();
    ASSERT_TRUE(store->acquire(std::vector{shard}));
    auto batch = store->make_batch();
    for (auto number = std::uint64_t{0}; number < 3; ++number) {
        batch->clear();
        batch->fence({shard, Epoch{1}, CommitNumber{number}});
        batch->put("last", std::to_string(number));
        // The connection for commits is there from the second on.
        if (number > 0) {
            proxy.lose_next_answer();
        }
        auto done = store->commit(*batch);

        ASSERT_TRUE(done) << done.error().message;
        EXPECT_TRUE(proxy.has_lost_one());
        EXPECT_EQ(store->get("last").value(), std::to_string(number));
    }
    EXPECT_EQ(store->acquire(std::vector{shard}).value().front().commit, CommitNumber{3});
}

TEST(PostgresStoreFailure, ShardsTakenByALostCallAreTakenAgain) {
    NEEDS_POSTGRES();
    auto proxy = testing::DeafProxy{shared_server()->port()};
    auto options = Options::parse(fmt::format("postgres://sluice:hidden@127.0.0.1:{}/postgres?"
                                              "schema={}",
                                              proxy.port(), new_schema()))
                       .value();
    auto store = PostgresStore::open(options).value();
    auto member = Member{.id = "m", .address = ""};
    ASSERT_TRUE(store->leases()->renew(member, 60s));
    proxy.lose_next_answer();

    auto taken = store->leases()->take(member, std::vector{shard});

    EXPECT_TRUE(proxy.has_lost_one());
    ASSERT_TRUE(taken && taken->size() == 1);
    auto batch = store->make_batch();
    batch->fence({shard, taken->front().second.epoch, taken->front().second.commit});
    EXPECT_TRUE(store->commit(*batch));
}

TEST(PostgresStoreFailure, ACommitOutlastsAServerThatStandsStill) {
    NEEDS_POSTGRES();
    auto retries = std::atomic<int>{0};
    auto store =
        open_with("&application_name=still&timeout=300ms&patience=60", [&](std::string_view) {
            ++retries;
        }).value();
    ASSERT_TRUE(store->acquire(std::vector{shard}));
    auto batch = store->make_batch();
    batch->fence({shard, Epoch{1}, CommitNumber{0}});
    batch->put("a", "1");
    ASSERT_TRUE(store->commit(*batch));
    auto backend = shared_server()->ask(
        "SELECT pid FROM pg_stat_activity WHERE application_name = "
        "'still' AND query LIKE 'COMMIT%' ORDER BY state_change DESC LIMIT 1");
    auto process = static_cast<pid_t>(std::stoi(backend.value()));
    ASSERT_EQ(::kill(process, SIGSTOP), 0);

    auto waker = std::thread{[&] {
        auto limit = std::chrono::steady_clock::now() + 30s;
        while (retries < 3 && std::chrono::steady_clock::now() < limit) {
            std::this_thread::sleep_for(1ms);
        }
        ::kill(process, SIGCONT);
    }};
    batch->clear();
    batch->fence({shard, Epoch{1}, CommitNumber{1}});
    batch->put("a", "2");
    auto done = store->commit(*batch);
    waker.join();

    ASSERT_TRUE(done) << done.error().message;
    EXPECT_GE(retries, 3);
    EXPECT_EQ(store->get("a").value(), "2");
    EXPECT_EQ(store->acquire(std::vector{shard}).value().front().commit, CommitNumber{2});
}

TEST(PostgresStoreFailure, AStrictCommitWaitsForItsReplica) {
    NEEDS_POSTGRES();
    auto retries = std::atomic<int>{0};
    auto store = open_with("&timeout=300ms", [&](std::string_view) { ++retries; }).value();
    ASSERT_TRUE(store->acquire(std::vector{shard}));
    ASSERT_TRUE(shared_server()->ask("ALTER SYSTEM SET synchronous_standby_names = 'nobody'"));
    ASSERT_TRUE(shared_server()->ask("SELECT pg_reload_conf()"));
    auto await_setting = [](std::string_view value) {
        auto limit = std::chrono::steady_clock::now() + 30s;
        while (shared_server()->ask("SHOW synchronous_standby_names") != value &&
               std::chrono::steady_clock::now() < limit) {
            std::this_thread::sleep_for(1ms);
        }
    };
    await_setting("nobody");
    auto is_done = std::atomic<bool>{false};
    auto done = Result<void>{};
    auto committing = std::thread{[&] {
        auto batch = store->make_batch();
        batch->fence({shard, Epoch{1}, CommitNumber{0}});
        done = store->commit(*batch);
        is_done = true;
    }};
    auto limit = std::chrono::steady_clock::now() + 30s;
    while (retries < 3 && !is_done && std::chrono::steady_clock::now() < limit) {
        std::this_thread::sleep_for(1ms);
    }
    EXPECT_FALSE(is_done);
    EXPECT_TRUE(shared_server()->ask("ALTER SYSTEM RESET synchronous_standby_names"));
    EXPECT_TRUE(shared_server()->ask("SELECT pg_reload_conf()"));
    committing.join();

    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(store->acquire(std::vector{shard}).value().front().commit, CommitNumber{1});
}

TEST(PostgresStoreFailure, AnOwnerThatWasReplacedWhileItWasCutOffIsRefused) {
    NEEDS_POSTGRES();
    auto options =
        Options::parse(shared_server()->url(new_schema(), "&application_name=cut")).value();
    options.shard_count = 4;
    auto former = PostgresStore::open(options).value();
    auto latter = PostgresStore::open(options).value();
    ASSERT_TRUE(former->acquire(std::vector{shard}));
    auto batch = former->make_batch();
    batch->fence({shard, Epoch{1}, CommitNumber{0}});
    ASSERT_TRUE(former->commit(*batch));
    shared_server()->stop();
    batch->clear();
    batch->fence({shard, Epoch{1}, CommitNumber{1}});
    batch->put("a", "former");
    ASSERT_TRUE(shared_server()->start());
    ASSERT_TRUE(latter->acquire(std::vector{shard}));
    auto refused = former->commit(*batch);

    EXPECT_EQ(refused.error().code, Errc::Stale);
    EXPECT_EQ(latter->get("a").value(), std::nullopt);
}

TEST(PostgresStoreFailure, GivesUpWhenThePatienceIsOver) {
    NEEDS_POSTGRES();
    auto store = open_with("&timeout=2&patience=1").value();
    ASSERT_TRUE(store->acquire(std::vector{shard}));
    auto batch = store->make_batch();
    batch->fence({shard, Epoch{1}, CommitNumber{0}});
    ASSERT_TRUE(store->commit(*batch));
    shared_server()->stop();
    batch->clear();
    batch->fence({shard, Epoch{1}, CommitNumber{1}});

    auto refused = store->commit(*batch);
    auto read = store->get("a");
    auto scan = store->scan("a", "b");
    ASSERT_TRUE(shared_server()->start());
    auto again = store->commit(*batch);

    EXPECT_EQ(refused.error().code, Errc::Unavailable);
    EXPECT_THAT(refused.error().message, HasSubstr("whether the commit happened is not known"));
    EXPECT_EQ(read.error().code, Errc::Unavailable);
    EXPECT_FALSE(scan->is_valid());
    EXPECT_EQ(scan->status().error().code, Errc::Unavailable);
    EXPECT_EQ(again.error(), refused.error());
}

/// Takes connections and says nothing.
class SilentServer {
public:
    SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        auto address = sockaddr_in{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto size = socklen_t{sizeof(address)};
        auto* place = reinterpret_cast<sockaddr*>(&address);
        EXPECT_EQ(::bind(socket_, place, sizeof(address)), 0);
        EXPECT_EQ(::getsockname(socket_, place, &size), 0);
        EXPECT_EQ(::listen(socket_, 16), 0);
        port_ = ntohs(address.sin_port);
    }
    ~SilentServer() { ::close(socket_); }
    SilentServer(const SilentServer&) = delete;
    SilentServer& operator=(const SilentServer&) = delete;

    std::uint16_t port() const { return port_; }

private:
    int socket_;
    std::uint16_t port_ = 0;
};

TEST(PostgresStoreFailure, AServerThatNeverAnswersIsGivenUp) {
    auto silent = SilentServer{};
    auto url = fmt::format("postgres://me:hidden@127.0.0.1:{}/d?timeout=200ms&patience=500ms",
                           silent.port());

    auto refused = PostgresStore::open(Options::parse(url).value());

    EXPECT_EQ(refused.error().code, Errc::Unavailable);
    EXPECT_THAT(refused.error().message, HasSubstr("no answer in time"));
}

TEST(PostgresStoreFailure, OfSeveralHostsASilentOneIsPassedOver) {
    NEEDS_POSTGRES();
    auto silent = SilentServer{};
    auto url = fmt::format(
        "postgres://sluice:hidden@127.0.0.1:{},127.0.0.1:{}/postgres?schema={}&"
        "timeout=500ms",
        silent.port(), shared_server()->port(), new_schema());

    auto store = PostgresStore::open(Options::parse(url).value());

    ASSERT_TRUE(store) << store.error().message;
    EXPECT_TRUE((*store)->get("a"));
}

TEST(PostgresStoreFailure, WhoStoppedInTheMiddleOfACommitKeepsNoShard) {
    NEEDS_POSTGRES();
    auto schema = new_schema();
    auto options = Options::parse(shared_server()->url(schema, "&timeout=300ms")).value();
    auto store = PostgresStore::open(options).value();
    auto where = fmt::format("host=127.0.0.1 port={} user=sluice dbname=postgres password=hidden",
                             shared_server()->port());
    auto* paused = PQconnectdb(where.c_str());
    ASSERT_EQ(PQenterPipelineMode(paused), 1);
    auto lock = fmt::format("SELECT 1 FROM {}.shards WHERE shard = 1 FOR UPDATE", schema);
    for (const auto* sql : {"BEGIN", lock.c_str()}) {
        ASSERT_EQ(PQsendQueryParams(paused, sql, 0, nullptr, nullptr, nullptr, nullptr, 0), 1);
    }
    ASSERT_EQ(PQsendFlushRequest(paused), 1);
    ASSERT_EQ(PQflush(paused), 0);
    PQclear(PQgetResult(paused));

    auto states = store->acquire(std::vector{shard});
    PQfinish(paused);

    ASSERT_TRUE(states) << states.error().message;
    EXPECT_EQ(states->front().epoch, Epoch{1});
}

TEST(PostgresStoreFailure, ALongScanWhoseConnectionIsLostSaysSo) {
    NEEDS_POSTGRES();
    auto store = open_with("&application_name=scanned").value();
    auto batch = store->make_batch();
    for (auto number = 0; number < 20'000; ++number) {
        batch->put(fmt::format("k{:06}", number), "v");
    }
    ASSERT_TRUE(store->commit(*batch));
    auto cursor = store->scan({}, {});
    ASSERT_TRUE(
        shared_server()->ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                             "application_name = 'scanned'"));
    while (cursor->is_valid()) {
        cursor->next();
    }

    EXPECT_EQ(cursor->status().error().code, Errc::Unavailable);
    auto again = store->scan({}, {});
    auto count = 0;
    for (; again->is_valid(); again->next()) {
        ++count;
    }
    EXPECT_TRUE(again->status());
    EXPECT_EQ(count, 20'000);
}

TEST(PostgresStoreFailure, AFullDiskRefusesAndIsTriedAgain) {
    NEEDS_POSTGRES();
    auto schema = new_schema();
    auto options = Options::parse(shared_server()->url(schema)).value();
    auto store = PostgresStore::open(options).value();
    ASSERT_TRUE(shared_server()->ask(fmt::format(
        "SET search_path = {}; CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS $$ "
        "BEGIN "
        "RAISE EXCEPTION 'no space left on device' USING ERRCODE = '53100'; END $$; CREATE TRIGGER "
        "no_space BEFORE INSERT ON entries EXECUTE FUNCTION no_space()",
        schema)));
    ASSERT_TRUE(store->acquire(std::vector{shard}));
    auto batch = store->make_batch();
    batch->fence({shard, Epoch{1}, CommitNumber{0}});
    batch->put("a", "1");

    auto refused = store->commit(*batch);

    EXPECT_EQ(refused.error().code, Errc::NoSpace);
    EXPECT_FALSE(store->is_writable());
    ASSERT_TRUE(shared_server()->ask("DROP TRIGGER no_space ON " + schema + ".entries"));
    EXPECT_TRUE(store->commit(*batch));
    EXPECT_TRUE(store->is_writable());
}

TEST(PostgresStoreFailure, AServerThatTakesNoWritesIsWaitedFor) {
    NEEDS_POSTGRES();
    auto store = open_with("&application_name=readonly&patience=500ms").value();
    auto batch = store->make_batch();
    batch->put("a", "1");
    ASSERT_TRUE(
        shared_server()->ask("ALTER DATABASE postgres SET default_transaction_read_only = on"));

    auto refused = store->commit(*batch);

    EXPECT_EQ(refused.error().code, Errc::Unavailable);
    EXPECT_FALSE(store->is_writable());
    ASSERT_TRUE(
        shared_server()->ask("BEGIN READ WRITE; ALTER DATABASE postgres RESET "
                             "default_transaction_read_only; COMMIT"));
    EXPECT_TRUE(store->commit(*batch));
}

TEST(PostgresStoreFailure, ASyncKeepsWhatWasRelaxed) {
    NEEDS_POSTGRES();
    auto options = Options::parse(shared_server()->url(new_schema())).value();
    options.durability = Durability::Relaxed;
    auto store = PostgresStore::open(options).value();
    ASSERT_TRUE(store->acquire(std::vector{shard}));
    auto batch = store->make_batch();
    auto number = std::uint64_t{0};
    for (; number < 200; ++number) {
        batch->clear();
        batch->fence({shard, Epoch{1}, CommitNumber{number}});
        batch->put("last", std::to_string(number));
        ASSERT_TRUE(store->commit(*batch));
    }
    ASSERT_TRUE(store->sync());
    shared_server()->kill();
    ASSERT_TRUE(shared_server()->start());

    EXPECT_EQ(store->get("last").value(), "199");
}

TEST(PostgresStoreFailure, ARelaxedStoreThatLostCommitsSaysSo) {
    NEEDS_POSTGRES();
    auto schema = new_schema();
    auto options = Options::parse(shared_server()->url(schema)).value();
    auto store = PostgresStore::open(options).value();
    ASSERT_TRUE(store->acquire(std::vector{shard}));
    auto batch = store->make_batch();
    batch->fence({shard, Epoch{1}, CommitNumber{0}});
    ASSERT_TRUE(store->commit(*batch));
    // As after a failover to a replica that was behind.
    ASSERT_TRUE(shared_server()->ask("UPDATE " + schema + ".shards SET commit = 0"));
    batch->clear();
    batch->fence({shard, Epoch{1}, CommitNumber{1}});

    auto refused = store->commit(*batch);

    EXPECT_EQ(refused.error().code, Errc::Stale);
    EXPECT_THAT(refused.error().message, HasSubstr("has lost commits that it had acknowledged"));
}

TEST(PostgresStoreFailure, RefusesStrictWithoutFsync) {
    NEEDS_POSTGRES();
    shared_server()->stop();
    ASSERT_TRUE(shared_server()->start({"fsync=off"}));

    auto refused = open_with("");
    shared_server()->stop();
    ASSERT_TRUE(shared_server()->start());

    EXPECT_EQ(refused.error().code, Errc::InvalidInput);
    EXPECT_THAT(refused.error().message, HasSubstr("durability strict needs fsync"));
}

} // namespace
} // namespace sluice::store::postgres
