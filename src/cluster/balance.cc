#include "cluster/balance.h"

#include <algorithm>
#include <iterator>

namespace sluice::cluster {

Balance balance(const store::LeaseTable& table, std::string_view self,
                const std::set<ShardId>& owned) {
    auto workers = std::vector<std::string_view>{};
    for (const auto& member : table.members) {
        if (member.id.starts_with(worker_prefix)) {
            workers.push_back(member.id);
        }
    }
    auto place = std::ranges::find(workers, self);
    if (place == workers.end()) {
        return {};
    }
    auto shards = table.owners.size();
    auto rank = static_cast<std::size_t>(std::distance(workers.begin(), place));
    auto share = shards / workers.size() + (rank < shards % workers.size() ? 1 : 0);
    auto result = Balance{};
    auto own = owned.size();
    for (auto each = owned.rbegin(); own > share && each != owned.rend(); ++each, --own) {
        result.let_go.push_back(*each);
    }
    for (auto shard = std::size_t{0}; own < share && shard < shards; ++shard) {
        auto id = ShardId{static_cast<std::uint16_t>(shard)};
        if (table.owners[shard].empty() && !owned.contains(id)) {
            result.take.push_back(id);
            ++own;
        }
    }
    return result;
}

} // namespace sluice::cluster
