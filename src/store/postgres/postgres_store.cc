#include "store/postgres/postgres_store.h"

#include <algorithm>
#include <map>
#include <utility>

#include "store/flat_batch.h"
#include "store/postgres/internal/commit_request.h"
#include "store/postgres/internal/committer.h"
#include "store/postgres/internal/layout.h"
#include "store/postgres/internal/page_cursor.h"
#include "store/postgres/internal/postgres_leases.h"

namespace sluice::store::postgres {
namespace {

constexpr auto size_lasts = Nanos{std::chrono::seconds{5}};
constexpr auto vacuum_limit = std::chrono::hours{6};

Result<void> check_options(const Options& options) {
    if (options.durability == Durability::Memory) {
        return fail(Errc::InvalidInput,
                    "durability memory keeps nothing: a store in PostgreSQL is "
                    "strict or relaxed");
    }
    if (options.shard_count == 0 || options.shard_count == 0xFFFF) {
        return fail(Errc::InvalidInput, "{} shards, 1 to 65534 are possible", options.shard_count);
    }
    return {};
}

} // namespace

PostgresStore::PostgresStore(Options options) : options_(std::move(options)) {}

PostgresStore::~PostgresStore() = default;

Result<std::unique_ptr<PostgresStore>> PostgresStore::open(Options options) {
    TRY(check_options(options));
    auto store = std::unique_ptr<PostgresStore>{new PostgresStore{std::move(options)}};
    store->shard_count_ = TRY(lay_out(store->options_));
    store->control_ = std::make_unique<Session>(store->options_, Role::Control);
    store->committer_ = std::make_unique<Committer>(store->options_, store->shard_count_);
    store->readers_ = std::make_unique<Readers>(store->options_);
    store->scans_ = std::make_unique<Scans>(store->options_);
    store->leases_ = std::make_unique<PostgresLeases>(*store->control_, store->shard_count_);
    // Prepares every statement: tables that are not as we make them show now.
    TRY(store->control_->insist("opening the store", [](Connection&) { return Outcome<void>{}; }));
    return store;
}

Result<std::vector<ShardState>> PostgresStore::acquire(std::span<const ShardId> shards) {
    TRY(check_known(shards, shard_count_));
    auto named = array_of(shards);
    auto calls = std::vector<Call>{statements::begin,
                                   {statements::hold, {named.bytes()}},
                                   {statements::raise, {named.bytes()}},
                                   statements::commit};
    auto rows = TRY(control_->insist("acquiring shards", [&](Connection& connection) {
        return connection.run_past_stuck(calls);
    }));
    auto raised = std::map<ShardId, ShardState>{};
    for (auto row = 0; row < rows[2].count(); ++row) {
        auto number = [&](int column) {
            return static_cast<std::uint64_t>(rows[2].number(row, column));
        };
        raised[ShardId{static_cast<std::uint16_t>(number(0))}] = {Epoch{number(1)},
                                                                  CommitNumber{number(2)}};
    }
    auto states = std::vector<ShardState>{};
    states.reserve(shards.size());
    for (auto shard : shards) {
        auto state = raised.find(shard);
        if (state == raised.end()) {
            return fail(Errc::Corrupt, "postgres at {}: table shards has no shard {}",
                        options_.where(), shard.raw());
        }
        states.push_back(state->second);
    }
    return states;
}

Leases* PostgresStore::leases() {
    return leases_.get();
}

std::unique_ptr<Batch> PostgresStore::make_batch() {
    return std::make_unique<FlatBatch>();
}

Result<void> PostgresStore::commit(Batch& batch) {
    return committer_->commit(static_cast<FlatBatch&>(batch));
}

Result<void> PostgresStore::sync() {
    if (options_.durability == Durability::Strict) {
        return {};
    }
    std::ignore = TRY(control_->insist(
        "a sync", [](Connection& connection) { return connection.run_one(statements::touch); }));
    return {};
}

Result<void> PostgresStore::compact() {
    auto session = Session{options_, Role::Setup};
    return session.insist("compacting", [&](Connection& connection) -> Outcome<void> {
        TRY(connection.script("SET statement_timeout = 0", options_.timeout));
        for (const auto* table : {"VACUUM entries", "VACUUM shards", "VACUUM members"}) {
            TRY(connection.script(table, vacuum_limit));
        }
        return {};
    });
}

Result<std::optional<std::string>> PostgresStore::get(std::string_view key) const {
    auto rows = TRY(readers_->insist("a read", [&](Connection& connection) {
        return connection.run_one({statements::get, {key}});
    }));
    if (rows.count() == 0) {
        return std::nullopt;
    }
    return std::string{rows.bytes(0, 0)};
}

std::unique_ptr<Cursor> PostgresStore::scan(std::string_view from, std::string_view to) const {
    return std::make_unique<PageCursor>(options_, *readers_, *scans_, from, to);
}

bool PostgresStore::is_writable() const {
    return committer_->is_writable();
}

std::uint64_t PostgresStore::disk_bytes() const {
    auto lock = std::lock_guard{size_mutex_};
    auto now = Nanos{std::chrono::steady_clock::now().time_since_epoch()};
    if (!sized_at_ || now - *sized_at_ > size_lasts) {
        auto ask = [](Connection& connection) {
            return connection.run_one(statements::table_bytes);
        };
        auto rows = readers_->attempt(ask);
        if (rows && rows->count() == 1) {
            size_ = static_cast<std::uint64_t>(rows->number(0, 0));
        }
        sized_at_ = now;
    }
    return size_;
}

} // namespace sluice::store::postgres
