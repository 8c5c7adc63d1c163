#pragma once

#include <cstdint>
#include <string>

#include "sluice/exit_code.h"

namespace sluice::app {

struct ServeOptions {
    std::string data = "sluice-data";
    std::string listen = "127.0.0.1:8080"; ///< Port 0: any that is free.
    std::string durability = "strict";
    std::uint32_t threads = 1;
    std::string functions;       ///< A file with the operator's functions; empty: none.
    std::string public_url;      ///< Where callbacks reach this server; empty: where it listens.
    bool allows_private = false; ///< Functions may reach loopback and private addresses.
    bool allows_process = false; ///< The API may define functions that run commands here.
    bool is_json = false;        ///< What it tells, as JSON lines.
};

/// Serves until it is asked to stop; then answers what was asked, commits, and goes.
ExitCode serve(const ServeOptions& options);

} // namespace sluice::app
