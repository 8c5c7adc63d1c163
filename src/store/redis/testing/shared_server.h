#pragma once

#include <string>

#include "resp/testing/redis_server.h"
#include "store/redis/options.h"

namespace sluice::store::redis::testing {

/// One server for all tests of a program; null when none is installed.
resp::testing::RedisServer* shared_server();
/// Options for a store of its own in it, of four shards.
Options fresh_options();
Options options_of(const resp::testing::RedisServer& server);

} // namespace sluice::store::redis::testing
