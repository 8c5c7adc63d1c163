#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "store/leases.h"

namespace sluice::store::redis {

namespace internal {
class Connection;
class Keyspace;
class Pool;
} // namespace internal

/// Leases by the server's clock. Whoever looks takes out what has ended.
class RedisLeases final : public Leases {
public:
    /// Pool and keyspace outlive it.
    RedisLeases(internal::Pool& pool, const internal::Keyspace& keyspace, std::string writer)
        : pool_(pool), keyspace_(keyspace), writer_(std::move(writer)) {}

    Result<LeaseTable> renew(const Member& member, Nanos lasts) override;
    Result<std::vector<std::pair<ShardId, ShardState>>> take(
        const Member& member, std::span<const ShardId> shards) override;
    Result<void> release(const Member& member, std::span<const ShardId> shards) override;
    Result<void> leave(const Member& member) override;
    Result<std::string> agree(std::string_view name, std::string_view proposal) override;

    /// Takes the shards from whoever has them: what Store::acquire does.
    Result<std::vector<ShardState>> acquire(std::span<const ShardId> shards);

private:
    using Taken = std::vector<std::pair<ShardId, ShardState>>;

    Result<void> check_known(std::span<const ShardId> shards) const;
    Result<Taken> ask_take(internal::Connection& connection, const Member& member,
                           std::span<const ShardId> shards) const;
    Result<std::vector<ShardState>> ask_acquire(internal::Connection& connection,
                                                std::span<const ShardId> shards) const;
    std::string attempt() const;

    internal::Pool& pool_;
    const internal::Keyspace& keyspace_;
    std::string writer_;
    std::mutex mutex_;         ///< Attempts reach the server in the order of their numbers.
    std::uint64_t number_ = 0; ///< Of the last attempt to take something.
};

} // namespace sluice::store::redis
