#pragma once

#include <cstdint>
#include <string>

#include "cli/connection.h"
#include "cli/exit_code.h"
#include "cli/host.h"

namespace sluice::cli {

// What a server does for commands that can also work on a data directory by themselves.

struct ForkRequest {
    std::string run;
    std::uint64_t at = 0;
    std::string id; ///< Empty: the server makes one.
};
ExitCode fork_on_server(const Host& host, const Connection& connection, const ForkRequest& request,
                        bool is_json);
ExitCode reopen_on_server(const Host& host, const Connection& connection, const std::string& run,
                          bool is_json);
enum class WhenRunning : std::uint8_t { Refuse, Terminate };
ExitCode delete_on_server(const Host& host, const Connection& connection, const std::string& run,
                          WhenRunning when, bool is_json);

/// Tells a task of a run: `retry`, `skip`, `set-result` or `approve`, with what the body says.
ExitCode tell_task_on_server(const Host& host, const Connection& connection, const std::string& run,
                             const std::string& verb, const Value& body, bool is_json);

} // namespace sluice::cli
