#include "store/redis/redis_store.h"

#include <algorithm>
#include <charconv>
#include <random>
#include <thread>

#include "store/flat_batch.h"
#include "store/redis/internal/keyspace.h"
#include "store/redis/internal/page_cursor.h"
#include "store/redis/internal/plan.h"
#include "store/redis/internal/pool.h"

namespace sluice::store::redis {

using internal::Call;
using internal::Connection;
using internal::Keyspace;
using internal::Plan;
using internal::Pool;
using internal::Script;

namespace {

constexpr auto store_format = std::uint64_t{1};
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
Result<std::uint16_t> find_or_make(Pool& pool) {
    const auto& options = pool.options();
    auto meta = Keyspace{options.prefix, 0}.meta();
    auto make = [&](std::string_view field, std::uint64_t value) {
        return pool.ask(meta, [&](Connection& connection) -> Result<void> {
            std::ignore = TRY(connection.client().call("HSETNX", meta, field, value));
            return {};
        });
    };
    TRY(make("shards", options.shard_count));
    TRY(make("format", store_format));
    return pool.ask(meta, [&](Connection& connection) -> Result<std::uint16_t> {
        auto found = TRY(connection.client().call("HMGET", meta, "format", "shards"));
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
    });
}

Result<std::string> info(Connection& connection, std::string_view section) {
    auto reply = TRY(connection.client().call("INFO", section));
    return std::string{reply.text()};
}

} // namespace

Result<std::unique_ptr<RedisStore>> RedisStore::open(Options options) {
    // Somebody waits for an answer: what does not come up soon is named.
    auto patience = options.patience;
    options.patience = std::min(patience, options.server.connect_limit);
    auto pool = std::make_unique<Pool>(std::move(options));
    auto shards = TRY(find_or_make(*pool));
    auto keyspace = std::make_unique<Keyspace>(pool->options().prefix, shards);
    // Every node of a cluster has to keep data as the options ask.
    TRY(pool->ask_each(keyspace->probes(),
                       [](Connection&, const std::string&) { return Result<void>{}; }));
    pool->set_patience(patience);
    return std::unique_ptr<RedisStore>{new RedisStore{std::move(pool), std::move(keyspace)}};
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
    auto keys = std::vector{keyspace_->probe()};
    for (auto shard : shards) {
        keys.push_back(keyspace_->probe_of(shard.raw()));
    }
    TRY(wait_for_replicas(keys));
    return states;
}

Atomicity RedisStore::atomicity() const {
    return pool_->is_cluster() ? Atomicity::Shard : Atomicity::Batch;
}

std::unique_ptr<Batch> RedisStore::make_batch() {
    return std::make_unique<FlatBatch>();
}

Result<void> RedisStore::commit(Batch& batch) {
    auto plan = TRY(Plan::make(static_cast<FlatBatch&>(batch), *keyspace_));
    if (plan.is_empty()) {
        return {};
    }
    auto has_replicas = pool_->options().replicas > 0;
    auto keys = has_replicas ? plan.probes(*keyspace_) : std::vector<std::string>{};
    auto lock = std::lock_guard{commit_mutex_};
    auto applied = apply(std::move(plan));
    if (!applied) {
        was_refused_ = applied.error().code == Errc::NoSpace;
        asked_at_ = steady_now();
        return applied;
    }
    committed_at_ = steady_now();
    return wait_for_replicas(keys);
}

Result<void> RedisStore::apply(Plan plan) {
    ++unfenced_;
    if (!pool_->is_cluster()) {
        return apply_all(std::span{&plan, 1});
    }
    auto parts = std::move(plan).by_table();
    auto others = std::ranges::stable_partition(parts, &Plan::is_fenced);
    auto fenced = std::span{parts}.first(parts.size() - others.size());
    TRY(apply_all(fenced));
    auto applied = apply_all(std::span{others});
    if (!applied && !fenced.empty() && applied.error().code == Errc::NoSpace) {
        // Not nothing was written.
        applied.error().code = Errc::Unavailable;
    }
    return applied;
}

Result<void> RedisStore::apply_all(std::span<const Plan> plans) {
    auto calls = std::vector<Call>{};
    calls.reserve(plans.size());
    for (const auto& plan : plans) {
        auto first = plan.first_table();
        auto write = [this, &plan, first](Connection& connection) {
            auto is_fenced = plan.is_fenced();
            plan.write(
                connection.client().commands(), connection.sha(Script::Apply), *keyspace_,
                is_fenced ? keyspace_->state_of(first) : keyspace_->commit_by(writer_, first),
                is_fenced ? std::string{} : std::to_string(unfenced_));
        };
        auto read = [&plan](Connection& connection, bool was_sent) -> Result<void> {
            auto reply = TRY(resp::checked(TRY(connection.client().receive())));
            return plan.outcome(reply, was_sent);
        };
        calls.push_back({.key = keyspace_->state_of(first), .write = write, .read = read});
    }
    return pool_->ask_all(calls);
}

Result<void> RedisStore::wait_for_replicas(std::span<const std::string> keys) {
    auto wanted = pool_->options().replicas;
    if (wanted == 0) {
        return {};
    }
    auto limit = pool_->options().server.call_limit / 2;
    auto calls = std::vector<Call>{};
    auto chosen = TRY(pool_->one_per_node(keys, pool_->options().patience));
    for (const auto& key : chosen) {
        auto write = [key, wanted, limit](Connection& connection) {
            // WAIT is about writes of the same connection: all before it are behind this one.
            auto& commands = connection.client().commands();
            commands.add("INCR", key);
            commands.add("WAIT", wanted,
                         std::chrono::ceil<std::chrono::milliseconds>(limit).count());
        };
        auto read = [wanted](Connection& connection, bool /*was_sent*/) -> Result<void> {
            auto& client = connection.client();
            std::ignore = TRY(resp::checked(TRY(client.receive())));
            auto replicas = TRY(resp::checked(TRY(client.receive())));
            if (std::cmp_less(replicas.number(), wanted)) {
                return fail(Errc::Unavailable, "{} of {} replicas have the commit",
                            replicas.number(), wanted);
            }
            return {};
        };
        calls.push_back({.key = key, .write = write, .read = read});
    }
    return pool_->ask_all(calls);
}

Result<void> RedisStore::sync() {
    if (pool_->options().durability != Durability::Relaxed) {
        return {};
    }
    auto sync = [&](Connection& connection, const std::string& key) -> Result<void> {
        auto& client = connection.client();
        client.commands().add("INCR", key);
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
    };
    return pool_->ask_each(keyspace_->probes(), sync);
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
    auto limit = std::chrono::steady_clock::now() + rewrite_limit;
    auto keys = TRY(pool_->one_per_node(keyspace_->probes(), pool_->options().patience));
    for (const auto& key : keys) {
        auto goes_on = TRY(pool_->ask(key, begin));
        while (goes_on) {
            if (std::chrono::steady_clock::now() > limit) {
                return fail(Errc::Unavailable,
                            "the append-only file is not rewritten after an hour");
            }
            std::this_thread::sleep_for(std::chrono::milliseconds{50});
            goes_on = TRY(pool_->ask(key, is_rewriting));
        }
    }
    return {};
}

Result<std::optional<std::string>> RedisStore::get(std::string_view key) const {
    auto values = keyspace_->values_of(keyspace_->table_of(key));
    return pool_->ask(values, [&](Connection& connection) -> Result<std::optional<std::string>> {
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
    auto takes_writes = [&](const std::string& key) {
        auto write = [&](Connection& connection) -> Result<void> {
            std::ignore = TRY(connection.client().call("INCR", key));
            return {};
        };
        return pool_->once(key, write).has_value();
    };
    auto keys = pool_->one_per_node(keyspace_->probes(), Nanos{0});
    was_refused_ = !keys || !std::ranges::all_of(*keys, takes_writes);
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
    auto bytes = std::uint64_t{0};
    auto keys = pool_->one_per_node(keyspace_->probes(), Nanos{0});
    for (const auto& key : keys ? *keys : std::vector<std::string>{}) {
        auto there = pool_->once(key, ask);
        bytes += there ? *there : 0;
    }
    return bytes;
}

} // namespace sluice::store::redis
