#include "store/redis/testing/redis_cluster.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <fmt/format.h>

namespace sluice::store::redis::testing {
namespace {

constexpr auto slots = 16384;

bool wait_for(const auto& condition) {
    auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{60};
    while (!condition()) {
        if (std::chrono::steady_clock::now() > limit) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return true;
}

} // namespace

std::unique_ptr<RedisCluster> RedisCluster::start() {
    auto cluster = std::unique_ptr<RedisCluster>{new RedisCluster};
    for (auto at = std::size_t{0}; at < cluster->nodes_.size(); ++at) {
        cluster->bus_ports_[at] = resp::testing::free_port();
        cluster->nodes_[at] = resp::testing::RedisServer::start(
            {.arguments = {"--cluster-enabled", "yes", "--cluster-node-timeout", "1000",
                           "--cluster-port", std::to_string(cluster->bus_ports_[at])}});
        if (!cluster->nodes_[at]) {
            return nullptr;
        }
    }
    return cluster->join() ? std::move(cluster) : nullptr;
}

bool RedisCluster::join() {
    for (auto at = std::size_t{0}; at < nodes_.size(); ++at) {
        auto first = at * slots / nodes_.size();
        auto last = (at + 1) * slots / nodes_.size() - 1;
        if (tell(at, "CLUSTER", "ADDSLOTSRANGE", first, last) != "OK" ||
            tell(at, "CLUSTER", "SET-CONFIG-EPOCH", at + 1) != "OK" ||
            tell(0, "CLUSTER", "MEET", "127.0.0.1", nodes_[at]->port(), bus_ports_[at]) != "OK") {
            return false;
        }
    }
    return wait_until_ok();
}

bool RedisCluster::wait_until_ok() const {
    return wait_for([&] {
        for (auto at = std::size_t{0}; at < nodes_.size(); ++at) {
            auto info = tell(at, "CLUSTER", "INFO");
            if (!info.contains("cluster_state:ok") ||
                !info.contains(fmt::format("cluster_slots_ok:{}\r", slots)) ||
                !info.contains("cluster_size:3\r")) {
                return false;
            }
        }
        return true;
    });
}

Options RedisCluster::options() const {
    auto options = Options{.server = nodes_[0]->options(), .shard_count = 4};
    options.nodes = {{.host = "127.0.0.1", .port = nodes_[1]->port()},
                     {.host = "127.0.0.1", .port = nodes_[2]->port()}};
    return options;
}

std::size_t RedisCluster::holder_of(const std::string& key) const {
    auto at = std::size_t{0};
    while (at < nodes_.size() && tell(at, "EXISTS", key) != "0" && tell(at, "EXISTS", key) != "1") {
        ++at;
    }
    return at;
}

std::string RedisCluster::id_of(std::size_t at) const {
    return tell(at, "CLUSTER", "MYID");
}

RedisCluster* shared_cluster() {
    static const auto cluster =
        resp::testing::is_redis_installed() ? RedisCluster::start() : nullptr;
    return cluster.get();
}

Options fresh_cluster_options() {
    static auto number = std::atomic<int>{0};
    auto options = shared_cluster()->options();
    options.prefix = "store" + std::to_string(++number);
    return options;
}

} // namespace sluice::store::redis::testing
