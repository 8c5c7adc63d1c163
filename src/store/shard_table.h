#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "store/store.h"

namespace sluice::store {

/// Who owns each shard and how far it came: what fences are held against.
class ShardTable {
public:
    explicit ShardTable(std::uint16_t count) : states_(count) {}

    std::uint16_t count() const { return static_cast<std::uint16_t>(states_.size()); }
    ShardState at(ShardId shard) const { return states_[shard.raw()]; }
    void set(ShardId shard, ShardState state) { states_[shard.raw()] = state; }

    /// Stale when an epoch or commit is not the current one; InvalidInput for a shard that is not
    /// there or named twice.
    Result<void> check(std::span<const Fence> fences) const;
    /// Every fenced shard is at its next commit from now on.
    void advance(std::span<const Fence> fences);
    /// The states after a new owner took the shards; the table stays as it is until they are
    /// durable.
    Result<std::vector<ShardState>> raised(std::span<const ShardId> shards) const;

private:
    Result<void> check_known(ShardId shard) const;

    std::vector<ShardState> states_;
};

/// The state a shard is in once the commit behind this fence is done.
ShardState state_after(const Fence& fence);

} // namespace sluice::store
