#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "resp/client.h"
#include "store/redis/internal/scripts.h"
#include "store/redis/options.h"

namespace sluice::store::redis::internal {

enum class ServerKind : std::uint8_t { Alone, InCluster };

/// A client of a server that keeps data as the options ask, with our scripts loaded.
class Connection {
public:
    /// Looks at the server anew each time: after a restart it may be another. Unavailable when it
    /// may become right by itself, InvalidInput or Unsupported when somebody has to change
    /// something.
    static Result<Connection> open(const Options& options, ServerKind expected);

    resp::Client& client() { return client_; }
    const std::string& sha(Script script) const { return shas_[static_cast<std::size_t>(script)]; }

private:
    explicit Connection(resp::Client client) : client_(std::move(client)) {}

    resp::Client client_;
    std::array<std::string, script_count> shas_;
};

/// The value of a line `name:value` of INFO; empty when there is none.
std::string_view info_field(std::string_view info, std::string_view name);

/// How a server keeps data, as CONFIG GET says it.
struct ServerSettings {
    std::string appendonly;
    std::string appendfsync;
    std::string no_appendfsync_on_rewrite;
    std::string maxmemory_policy;
};

/// InvalidInput, with what to set, when that is less than the durability promises.
Result<void> check(const ServerSettings& settings, Durability durability);

} // namespace sluice::store::redis::internal
