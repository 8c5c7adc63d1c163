#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/access.h"

namespace sluice::server {

/// Secrets that requests are signed with, by name. Unlike tokens they must be known in the clear,
/// so they are only those that the configuration has as secrets. May be used from any thread.
class AccessKeys {
public:
    struct Key {
        TokenInfo info; ///< Its name is the id of the key.
        std::string secret;
    };

    /// In place of all there were.
    void set(std::vector<Key> keys);
    std::optional<Key> find(std::string_view id) const;

private:
    mutable std::mutex mutex_;
    std::map<std::string, Key, std::less<>> by_id_;
};

} // namespace sluice::server
