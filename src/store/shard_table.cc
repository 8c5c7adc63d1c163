#include "store/shard_table.h"

#include "base/invariant.h"

namespace sluice::store {

Result<void> ShardTable::check(std::span<const Fence> fences) const {
    for (auto at = std::size_t{0}; at < fences.size(); ++at) {
        const auto& fence = fences[at];
        TRY(check_known(fence.shard));
        for (const auto& earlier : fences.first(at)) {
            if (earlier.shard == fence.shard) {
                return fail(Errc::InvalidInput, "shard {} is fenced twice in one batch",
                            fence.shard.raw());
            }
        }
        auto current = states_[fence.shard.raw()];
        if (fence.epoch != current.epoch || fence.stands_on != current.commit) {
            return fail(Errc::Stale,
                        "shard {} is at epoch {} commit {}, the batch stands on epoch {} commit {}",
                        fence.shard.raw(), current.epoch.raw(), current.commit.raw(),
                        fence.epoch.raw(), fence.stands_on.raw());
        }
    }
    return {};
}

void ShardTable::advance(std::span<const Fence> fences) {
    for (const auto& fence : fences) {
        auto& state = states_[fence.shard.raw()];
        INVARIANT(state.commit == fence.stands_on, "only a checked fence moves its shard on");
        state = state_after(fence);
    }
}

Result<std::vector<ShardState>> ShardTable::raised(std::span<const ShardId> shards) const {
    auto states = std::vector<ShardState>{};
    states.reserve(shards.size());
    for (auto shard : shards) {
        TRY(check_known(shard));
        auto state = at(shard);
        states.push_back({Epoch{state.epoch.raw() + 1}, state.commit});
    }
    return states;
}

Result<void> ShardTable::check_known(ShardId shard) const {
    if (shard.raw() >= states_.size()) {
        return fail(Errc::InvalidInput, "shard {} does not exist, the store has {}", shard.raw(),
                    states_.size());
    }
    return {};
}

ShardState state_after(const Fence& fence) {
    return {fence.epoch, CommitNumber{fence.stands_on.raw() + 1}};
}

} // namespace sluice::store
