#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/leases.h"

namespace sluice::store::redis {

namespace internal {
class Connection;
class Keyspace;
class Pool;
struct Call;
} // namespace internal

/// Leases by the server's clock. Whoever looks takes out what has ended.
///
/// Taking a shard is a claim, where all leases lie, and then raising the epoch, where the shard
/// lies: that may be two nodes of a cluster. A claim has a ticket, later ones higher, and a shard
/// keeps the highest that raised it. So who is late raises nothing any more, and who dies between
/// the two has claimed for no longer than its lease.
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

    /// What this attempt may take, by tables of the store alone.
    struct Claim {
        std::vector<ShardId> shards;
        std::string ticket;
    };

    Result<void> check_known(std::span<const ShardId> shards) const;
    Result<Claim> ask_claim(internal::Connection& connection, const Member& member,
                            std::span<const ShardId> shards) const;
    /// Raises the epochs. Leaves out those that somebody with a later ticket has.
    Result<Taken> raise(std::span<const ShardId> shards, std::string_view ticket) const;
    internal::Call raising(std::span<const ShardId> shards, std::string_view ticket,
                           std::span<std::optional<ShardState>> states) const;
    std::string attempt() const;

    internal::Pool& pool_;
    const internal::Keyspace& keyspace_;
    std::string writer_;
    std::mutex mutex_;         ///< Attempts reach the server in the order of their numbers.
    std::uint64_t number_ = 0; ///< Of the last attempt to take something.
};

} // namespace sluice::store::redis
