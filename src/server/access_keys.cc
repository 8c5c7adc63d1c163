#include "server/access_keys.h"

#include <utility>

namespace sluice::server {

void AccessKeys::set(std::vector<Key> keys) {
    auto next = std::map<std::string, Key, std::less<>>{};
    for (auto& key : keys) {
        auto id = key.info.name;
        next.insert_or_assign(std::move(id), std::move(key));
    }
    auto lock = std::lock_guard{mutex_};
    by_id_ = std::move(next);
}

std::optional<AccessKeys::Key> AccessKeys::find(std::string_view id) const {
    auto lock = std::lock_guard{mutex_};
    auto found = by_id_.find(id);
    return found == by_id_.end() ? std::nullopt : std::optional{found->second};
}

} // namespace sluice::server
