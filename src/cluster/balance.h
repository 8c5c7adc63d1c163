#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "store/leases.h"

namespace sluice::cluster {

/// Members whose ids begin so want shards; others only route to them.
inline constexpr auto worker_prefix = std::string_view{"worker-"};

/// What a worker should do so that all have about as many shards.
struct Balance {
    std::vector<ShardId> take; ///< Nobody has them.
    std::vector<ShardId> let_go;
};

/// Each worker computes this alone, from the same table. No shard moves between workers that have
/// their share.
Balance balance(const store::LeaseTable& table, std::string_view self,
                const std::set<ShardId>& owned);

} // namespace sluice::cluster
