#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/redis/options.h"
#include "store/redis/redis_leases.h"
#include "store/store.h"

namespace sluice::store::redis {

namespace internal {
class Keyspace;
class Plan;
class Pool;
} // namespace internal

/// A store in a Redis server, which several processes may share.
///
/// A batch is one script in the server, so all of it is applied or nothing. When the connection is
/// lost, the same batch is sent again: its fences keep it from being applied twice, and say whether
/// it was. In a Redis Cluster it is a script for each shard, sent at once to all nodes; what is no
/// shard's follows when all fences have held.
///
/// A cursor reads pages. One page is as of one moment; a range that does not fit in it is not, nor
/// is one over several shards of a cluster.
class RedisStore final : public Store {
public:
    /// Makes the store when there is none. InvalidInput when the server does not keep data as the
    /// durability promises; Unsupported when a newer program has made the store.
    static Result<std::unique_ptr<RedisStore>> open(Options options);
    ~RedisStore() override;

    std::uint16_t shard_count() const override;
    Result<std::vector<ShardState>> acquire(std::span<const ShardId> shards) override;
    Leases* leases() override { return &leases_; }
    std::unique_ptr<Batch> make_batch() override;
    /// Takes batches of its own making only. Unavailable when the server was not there for as long
    /// as the patience: the outcome is unknown then.
    Result<void> commit(Batch& batch) override;
    Atomicity atomicity() const override;
    /// Where a server syncs once a second and cannot be asked to (before Redis 7.2), this takes as
    /// long.
    Result<void> sync() override;
    /// Has the append-only file written anew.
    Result<void> compact() override;
    Result<std::optional<std::string>> get(std::string_view key) const override;
    std::unique_ptr<Cursor> scan(std::string_view from, std::string_view to) const override;
    /// False once the server refused a write for want of memory or disk, or as a replica; asks
    /// again once a second.
    bool is_writable() const override;
    /// Of the append-only file, all stores in it included; of the memory where there is none.
    std::uint64_t disk_bytes() const override;

private:
    RedisStore(std::unique_ptr<internal::Pool> pool, std::unique_ptr<internal::Keyspace> keyspace);

    Result<void> apply(internal::Plan plan);
    Result<void> apply_all(std::span<const internal::Plan> plans);
    /// `keys` lie where something was written.
    Result<void> wait_for_replicas(std::span<const std::string> keys);

    std::unique_ptr<internal::Pool> pool_;
    std::unique_ptr<internal::Keyspace> keyspace_;
    std::string writer_; ///< This process's name for itself.
    RedisLeases leases_;
    std::mutex commit_mutex_;
    std::uint64_t unfenced_ = 0;
    mutable std::atomic<bool> was_refused_{false};
    mutable std::atomic<std::int64_t> asked_at_{0};
    std::atomic<std::int64_t> committed_at_{0};
};

} // namespace sluice::store::redis
