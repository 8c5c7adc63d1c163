#include "store/redis/redis_store.h"

#include <charconv>
#include <random>
#include <thread>

#include "store/flat_batch.h"
#include "store/redis/internal/keyspace.h"
#include "store/redis/internal/page_cursor.h"
#include "store/redis/internal/plan.h"
#include "store/redis/internal/pool.h"

namespace sluice::store::redis {

using internal::Connection;
using internal::Keyspace;
using internal::Plan;
using internal::Pool;
using internal::Script;

namespace {

constexpr auto store_format = 1;
constexpr auto look_again_after = std::chrono::seconds{1};
// Twice the second after which a server syncs, for the one that has just begun.
constexpr auto everysec_at_most = std::chrono::milliseconds{2100};
constexpr auto rewrite_limit = std::chrono::hours{1};

std::int64_t steady_now() {
    return SystemClock{}.steady().count();
}

/// Random, so that no two processes have the same.
std::string writer_name() {
    auto device = std::random_device{};
    return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

std::uint64_t number_in(std::string_view text) {
    auto number = std::uint64_t{0};
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// The number of shards that it was made with.
Result<std::uint16_t> find_or_make(Connection& connection, const Options& options) {
    auto meta = Keyspace{options.prefix, 0}.meta();
    auto& client = connection.client();
    client.commands().add("HSETNX", meta, "shards", options.shard_count);
    client.commands().add("HSETNX", meta, "format", store_format);
    client.commands().add("HMGET", meta, "format", "shards");
    TRY(client.send());
    std::ignore = TRY(resp::checked(TRY(client.receive())));
    std::ignore = TRY(resp::checked(TRY(client.receive())));
    auto found = TRY(resp::checked(TRY(client.receive())));
    auto format = number_in(found.item(0).text());
    auto shards = number_in(found.item(1).text());
    if (format != store_format) {
        return fail(
            Errc::Unsupported,
            "the store {} has format {}, this program knows {}: use the program that made it",
            options.prefix, format, store_format);
    }
    if (shards == 0 || shards >= 0xFFFF) {
        return fail(Errc::Corrupt, "the store {} says that it has {} shards", options.prefix,
                    shards);
    }
    return static_cast<std::uint16_t>(shards);
}

Result<std::string> info(Connection& connection, std::string_view section) {
    auto reply = TRY(connection.client().call("INFO", section));
    return std::string{reply.text()};
}

} // namespace

Result<std::unique_ptr<RedisStore>> RedisStore::open(Options options) {
    // Somebody waits for an answer: what does not come up soon is named.
    auto at_first = options;
    at_first.patience = std::min(options.patience, options.server.connect_limit);
    auto shards = TRY(Pool{at_first}.ask(
        [&](Connection& connection) { return find_or_make(connection, options); }));
    auto keyspace = std::make_unique<Keyspace>(options.prefix, shards);
    return std::unique_ptr<RedisStore>{
        new RedisStore{std::make_unique<Pool>(std::move(options)), std::move(keyspace)}};
}

RedisStore::RedisStore(std::unique_ptr<Pool> pool, std::unique_ptr<Keyspace> keyspace)
    : pool_(std::move(pool)),
      keyspace_(std::move(keyspace)),
      writer_(writer_name()),
      leases_(*pool_, *keyspace_, writer_) {}

RedisStore::~RedisStore() = default;

std::uint16_t RedisStore::shard_count() const {
    return keyspace_->shard_count();
}

Result<std::vector<ShardState>> RedisStore::acquire(std::span<const ShardId> shards) {
    auto states = TRY(leases_.acquire(shards));
    TRY(wait_for_replicas());
    return states;
}

std::unique_ptr<Batch> RedisStore::make_batch() {
    return std::make_unique<FlatBatch>();
}

Result<void> RedisStore::commit(Batch& batch) {
    auto plan = TRY(Plan::make(static_cast<FlatBatch&>(batch), *keyspace_));
    if (plan.is_empty()) {
        return {};
    }
    auto lock = std::lock_guard{commit_mutex_};
    auto applied = apply(plan);
    if (!applied) {
        was_refused_ = applied.error().code == Errc::NoSpace;
        asked_at_ = steady_now();
        return applied;
    }
    committed_at_ = steady_now();
    return wait_for_replicas();
}

Result<void> RedisStore::apply(const Plan& plan) {
    auto guard = plan.is_fenced() ? std::string{} : std::to_string(++unfenced_);
    auto guard_key = keyspace_->done_by(writer_ + ":commit");
    auto is_sent = false;
    auto answer = pool_->ask([&](Connection& connection) -> Result<void> {
        auto& client = connection.client();
        plan.write(client.commands(), connection.sha(Script::Apply), *keyspace_, guard_key, guard);
        auto was_sent = std::exchange(is_sent, true);
        TRY(client.send());
        auto reply = TRY(client.receive());
        if (reply.is_error()) {
            auto error = resp::error_of(reply);
            // Of what was sent before nobody knows yet whether it was done.
            if (was_sent && error.code == Errc::NoSpace) {
                error.code = Errc::Unavailable;
            }
            return std::unexpected(std::move(error));
        }
        return plan.outcome(reply, was_sent);
    });
    return answer;
}

Result<void> RedisStore::wait_for_replicas() {
    if (pool_->options().replicas == 0) {
        return {};
    }
    auto wanted = pool_->options().replicas;
    auto limit = pool_->options().server.call_limit / 2;
    return pool_->ask([&](Connection& connection) -> Result<void> {
        auto& client = connection.client();
        // WAIT is about writes of the same connection: all that came before it is behind this one.
        client.commands().add("INCR", keyspace_->probe());
        client.commands().add("WAIT", wanted,
                              std::chrono::ceil<std::chrono::milliseconds>(limit).count());
        TRY(client.send());
        std::ignore = TRY(resp::checked(TRY(client.receive())));
        auto replicas = TRY(resp::checked(TRY(client.receive())));
        if (std::cmp_less(replicas.number(), wanted)) {
            return fail(Errc::Unavailable, "{} of {} replicas have the commit", replicas.number(),
                        wanted);
        }
        return {};
    });
}

Result<void> RedisStore::sync() {
    if (pool_->options().durability != Durability::Relaxed) {
        return {};
    }
    return pool_->ask([&](Connection& connection) -> Result<void> {
        auto& client = connection.client();
        client.commands().add("INCR", keyspace_->probe());
        client.commands().add("WAITAOF", 1, 0, 5000);
        TRY(client.send());
        std::ignore = TRY(resp::checked(TRY(client.receive())));
        auto waited = TRY(client.receive());
        if (!waited.is_error()) {
            return waited.item(0).number() >= 1
                       ? Result<void>{}
                       : fail(Errc::Unavailable, "the server has not synced within 5 s");
        }
        if (pool_->options().settings == Settings::Trusted) {
            return {};
        }
        auto config = TRY(client.call("CONFIG", "GET", "appendfsync"));
        if (config.item(1).text() == "always") {
            return {};
        }
        auto synced_by = Nanos{committed_at_.load()} + everysec_at_most;
        std::this_thread::sleep_for(synced_by - Nanos{steady_now()});
        auto state = TRY(info(connection, "persistence"));
        if (internal::info_field(state, "aof_pending_bio_fsync") != "0") {
            return fail(Errc::Unavailable, "the server is still syncing");
        }
        return {};
    });
}

Result<void> RedisStore::compact() {
    auto is_rewriting = [&](Connection& connection) -> Result<bool> {
        auto state = TRY(info(connection, "persistence"));
        return internal::info_field(state, "aof_rewrite_in_progress") == "1" ||
               internal::info_field(state, "aof_rewrite_scheduled") == "1";
    };
    auto begin = [&](Connection& connection) -> Result<bool> {
        auto state = TRY(info(connection, "persistence"));
        if (internal::info_field(state, "aof_enabled") != "1") {
            return false;
        }
        if (TRY(is_rewriting(connection))) {
            // One that has begun before may have what was removed since.
            return fail(Errc::Unavailable, "the append-only file is being rewritten");
        }
        std::ignore = TRY(connection.client().call("BGREWRITEAOF"));
        return true;
    };
    auto goes_on = TRY(pool_->ask(begin));
    auto limit = std::chrono::steady_clock::now() + rewrite_limit;
    while (goes_on) {
        if (std::chrono::steady_clock::now() > limit) {
            return fail(Errc::Unavailable, "the append-only file is not rewritten after an hour");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
        goes_on = TRY(pool_->ask(is_rewriting));
    }
    return {};
}

Result<std::optional<std::string>> RedisStore::get(std::string_view key) const {
    auto values = keyspace_->values_of(keyspace_->table_of(key));
    return pool_->ask([&](Connection& connection) -> Result<std::optional<std::string>> {
        auto reply = TRY(connection.client().call("HGET", values, key));
        if (reply.is_null()) {
            return std::nullopt;
        }
        return std::string{reply.text()};
    });
}

std::unique_ptr<Cursor> RedisStore::scan(std::string_view from, std::string_view to) const {
    return std::make_unique<internal::PageCursor>(*pool_, *keyspace_, keyspace_->pieces(from, to));
}

bool RedisStore::is_writable() const {
    if (!was_refused_) {
        return true;
    }
    if (steady_now() - asked_at_ < Nanos{look_again_after}.count()) {
        return false;
    }
    asked_at_ = steady_now();
    auto write = [&](Connection& connection) -> Result<void> {
        std::ignore = TRY(connection.client().call("INCR", keyspace_->probe()));
        return {};
    };
    was_refused_ = !pool_->once(write);
    return !was_refused_;
}

std::uint64_t RedisStore::disk_bytes() const {
    auto ask = [&](Connection& connection) -> Result<std::uint64_t> {
        auto state = TRY(info(connection, "persistence"));
        if (internal::info_field(state, "aof_enabled") == "1") {
            return number_in(internal::info_field(state, "aof_current_size"));
        }
        auto memory = TRY(info(connection, "memory"));
        return number_in(internal::info_field(memory, "used_memory"));
    };
    auto bytes = pool_->once(ask);
    return bytes ? *bytes : 0;
}

} // namespace sluice::store::redis
