#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "reactor/command.h"

namespace sluice::connector::process {

/// Processes that stay for further calls.
struct Pool {
    std::uint32_t max = 1;                 ///< Workers at once.
    Nanos idle = std::chrono::seconds{60}; ///< One without a call for so long is ended.
    std::uint64_t calls = 0;               ///< Of one worker, before it is replaced; zero: any.
    Nanos heartbeat{0}; ///< One that is silent for so long while it has a call; zero: any.
};

/// A command that is run once for each call or, with a pool, talked to.
struct Function {
    std::vector<std::string> argv{};
    std::vector<std::pair<std::string, std::string>> environment{}; ///< May refer to secrets,
    std::string secret_scope{}; ///< of this scope; empty: those of the operator.
    std::string directory{};    ///< Empty: where the server runs.
    Nanos timeout{0};           ///< Where the call has none; zero: never.
    reactor::ResourceLimits resources{};
    std::optional<Pool> pool{};
};

using Functions = std::map<std::string, Function, std::less<>>;

} // namespace sluice::connector::process
