#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/leases.h"
#include "store/postgres/options.h"
#include "store/store.h"

namespace sluice::store::postgres {

class Committer;
class PostgresLeases;
class Readers;
class Scans;
class Session;

/// A store in tables of a PostgreSQL server, which several processes may share.
///
/// A commit is one transaction and one round trip. A lost connection is made anew, for as long as
/// the patience lasts, and no commit is applied twice. docs/formats/postgres.md has the tables.
class PostgresStore final : public Store {
public:
    /// Makes the tables where they are missing. InvalidInput when the server would not keep what
    /// `strict` promises, Unsupported when a newer release made them, Corrupt when they are not
    /// ours.
    static Result<std::unique_ptr<PostgresStore>> open(Options options);
    ~PostgresStore() override;
    PostgresStore(const PostgresStore&) = delete;
    PostgresStore& operator=(const PostgresStore&) = delete;

    std::uint16_t shard_count() const override { return shard_count_; }
    Result<std::vector<ShardState>> acquire(std::span<const ShardId> shards) override;
    Leases* leases() override;
    std::unique_ptr<Batch> make_batch() override;
    /// Takes batches of its own making only. Unavailable when the patience was over before the
    /// outcome was known: no later commit is taken then.
    Result<void> commit(Batch& batch) override;
    Result<void> sync() override;
    /// VACUUM: what was removed makes room for what comes. Files do not become smaller.
    Result<void> compact() override;
    Result<std::optional<std::string>> get(std::string_view key) const override;
    /// A scan of more than a page fails with Unavailable when its connection is lost in its middle:
    /// what it saw is gone with it.
    std::unique_ptr<Cursor> scan(std::string_view from, std::string_view to) const override;
    bool is_writable() const override;
    /// Asked for every few seconds; the last answer when the server does not give one.
    std::uint64_t disk_bytes() const override;

private:
    explicit PostgresStore(Options options);

    Options options_; // The parts below refer to it.
    std::uint16_t shard_count_ = 0;
    std::unique_ptr<Session> control_;
    std::unique_ptr<Committer> committer_;
    std::unique_ptr<Readers> readers_;
    std::unique_ptr<Scans> scans_;
    std::unique_ptr<PostgresLeases> leases_;
    mutable std::mutex size_mutex_;
    mutable std::uint64_t size_ = 0;
    mutable std::optional<Nanos> sized_at_;
};

} // namespace sluice::store::postgres
