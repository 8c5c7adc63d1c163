#pragma once

#include <cstdint>

#include "store/leases.h"
#include "store/postgres/internal/session.h"

namespace sluice::store::postgres {

/// Leases by the server's clock. A shard names the term of its owner, and a term ends with its
/// member: whoever renews or leaves touches no shard, and so waits for no commit.
class PostgresLeases final : public Leases {
public:
    PostgresLeases(Session& session, std::uint16_t shard_count)
        : session_(session), shard_count_(shard_count) {}

    Result<LeaseTable> renew(const Member& member, Nanos lasts) override;
    Result<std::vector<std::pair<ShardId, ShardState>>> take(
        const Member& member, std::span<const ShardId> shards) override;
    Result<void> release(const Member& member, std::span<const ShardId> shards) override;
    Result<void> leave(const Member& member) override;
    Result<std::string> agree(std::string_view name, std::string_view proposal) override;

private:
    Session& session_;
    std::uint16_t shard_count_;
};

} // namespace sluice::store::postgres
