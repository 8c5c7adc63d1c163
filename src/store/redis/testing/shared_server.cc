#include "store/redis/testing/shared_server.h"

#include <atomic>

namespace sluice::store::redis::testing {

resp::testing::RedisServer* shared_server() {
    static const auto server =
        resp::testing::is_redis_installed() ? resp::testing::RedisServer::start() : nullptr;
    return server.get();
}

Options options_of(const resp::testing::RedisServer& server) {
    return {.server = server.options(), .shard_count = 4};
}

Options fresh_options() {
    static auto number = std::atomic<int>{0};
    auto options = options_of(*shared_server());
    options.prefix = "store" + std::to_string(++number);
    return options;
}

} // namespace sluice::store::redis::testing
