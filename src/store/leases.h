#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "store/store.h"

namespace sluice::store {

/// A process that owns shards.
struct Member {
    std::string id;      ///< Of its own, new at each start.
    std::string address; ///< Where the others reach it; empty: nowhere.

    bool operator==(const Member&) const = default;
};

/// Who is alive, and who owns what.
struct LeaseTable {
    std::vector<Member> members;     ///< By id.
    std::vector<std::string> owners; ///< Member id by shard; empty: nobody's.
};

/// Who owns which shard of a store that several processes share, by the store's clock. Safe without
/// it: a former owner's commits are refused by their epoch. From any thread.
class Leases {
public:
    virtual ~Leases() = default;
    /// The member is alive for as long as `lasts` from now, and so are the leases of its shards. A
    /// lease that ended meanwhile stays ended.
    virtual Result<LeaseTable> renew(const Member& member, Nanos lasts) = 0;
    /// Takes those of the shards that are nobody's, as `Store::acquire` does. Gives those it got.
    /// Stale when the member is not alive.
    virtual Result<std::vector<std::pair<ShardId, ShardState>>> take(
        const Member& member, std::span<const ShardId> shards) = 0;
    /// They are nobody's at once; what was not this member's is left alone.
    virtual Result<void> release(const Member& member, std::span<const ShardId> shards) = 0;
    /// It is gone, with all its leases.
    virtual Result<void> leave(const Member& member) = 0;
    /// What stands under this name for all processes: the first proposal, for good. Both are ASCII.
    virtual Result<std::string> agree(std::string_view name, std::string_view proposal) = 0;
};

} // namespace sluice::store
