#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "resp/options.h"
#include "store/store.h"

namespace sluice::store::redis {

/// Who answers for how the server keeps data.
enum class Settings : std::uint8_t {
    Checked, ///< We ask it, by CONFIG GET.
    Trusted, ///< Whoever wrote the options: for managed servers that do not tell.
};

/// Where a node of a Redis Cluster is.
struct Address {
    std::string host;
    std::uint16_t port = 0;

    auto operator<=>(const Address&) const = default;
};

struct Options {
    resp::Options server{};        ///< Or a node of a cluster: it tells where the others are.
    std::vector<Address> nodes{};  ///< Of the same cluster: asked when the server is not there.
    std::string prefix = "sluice"; ///< Before all our keys: several stores may share a server.
    Durability durability = Durability::Strict;
    Settings settings = Settings::Checked;
    std::uint16_t shard_count = 64; ///< Used when the store is created, kept ever after.
    std::uint16_t replicas = 0; ///< So many must have a commit as well before it counts as done.
    Nanos patience = std::chrono::seconds{60}; ///< With a server that cannot be reached.
};

/// `redis://[user:password@]host:port/[prefix]?durability=strict&shards=64&replicas=0&patience=60s&
/// settings=checked&nodes=host:port,host:port`, with the parameters of resp::parse_url beside them;
/// with a Unix socket the prefix is a parameter too.
Result<Options> parse_options(std::string_view url);
/// `host:port`; IPv6 with brackets or, as Redis writes it, without. The host may be empty.
Result<Address> parse_address(std::string_view text);

} // namespace sluice::store::redis
