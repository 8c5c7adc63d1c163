#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "resp/client.h"
#include "resp/testing/redis_server.h"
#include "store/redis/options.h"

namespace sluice::store::redis::testing {

/// A real cluster of three masters on loopback, without replicas, with a third of the slots each.
class RedisCluster {
public:
    /// Null when it does not come up.
    static std::unique_ptr<RedisCluster> start();

    /// A store of four shards that knows the first node, and the others by `nodes`.
    Options options() const;
    resp::testing::RedisServer& node(std::size_t at) { return *nodes_[at]; }
    /// Which node has this key, as the nodes themselves say; 3: none.
    std::size_t holder_of(const std::string& key) const;
    std::string id_of(std::size_t at) const;
    /// All nodes see all slots served.
    bool wait_until_ok() const;

    /// One command of one node; an error of the server is its text.
    std::string tell(std::size_t at, const auto&... words) const {
        auto client = resp::Client::connect(nodes_[at]->options());
        if (!client) {
            return client.error().message;
        }
        auto reply = client->call(words...);
        return !reply                                ? reply.error().message
               : reply->kind() == resp::Kind::Number ? std::to_string(reply->number())
                                                     : std::string{reply->text()};
    }

private:
    RedisCluster() = default;
    bool join();

    std::array<std::unique_ptr<resp::testing::RedisServer>, 3> nodes_;
    std::array<std::uint16_t, 3> bus_ports_{};
};

/// One for all tests of a program; null when none is installed.
RedisCluster* shared_cluster();
/// Options for a store of its own in it.
Options fresh_cluster_options();

} // namespace sluice::store::redis::testing
