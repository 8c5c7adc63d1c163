#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/exit_code.h"

namespace sluice::app {

struct ServeOptions {
    std::string data = "sluice-data";
    std::string listen = "127.0.0.1:8080"; ///< Port 0: any that is free.
    std::string durability = "strict";
    std::uint32_t threads = 1;
    bool is_json = false;                 ///< What it tells, as JSON lines.
    std::string unrouted = "refuse";      ///< Or accept: events that no route takes are dropped.
    std::vector<std::string> watch_roots; ///< Directories inside these may be watched.
};

/// Serves until it is asked to stop; then answers what was asked, commits, and goes.
ExitCode serve(const ServeOptions& options);

} // namespace sluice::app
