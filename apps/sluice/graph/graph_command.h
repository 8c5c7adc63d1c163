#pragma once

#include <cstdint>
#include <string>

#include "cli/connection.h"
#include "cli/host.h"
#include "sluice/exit_code.h"

namespace sluice::app {

struct GraphOptions {
    std::string subject; ///< A definition's file, or a run.
    std::string format = "text";
    std::string output; ///< A file; empty: standard output.
    bool is_ascii = false;
    std::uint64_t width = 0; ///< Columns; zero: those of the terminal.
    cli::Connection connection;
};

/// Prints a definition or a run as a picture.
ExitCode graph(const cli::Host& host, const GraphOptions& options);

} // namespace sluice::app
