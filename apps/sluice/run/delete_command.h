#pragma once

#include <string>

#include "sluice/exit_code.h"

namespace sluice::app {

struct DeleteOptions {
    std::string data;
    std::string run;
    bool is_forced = false; ///< One that is running is terminated first.
    bool is_json = false;
};

/// Removes a run and those it started from a data directory, and what they held from its files.
ExitCode delete_run(const DeleteOptions& options);

} // namespace sluice::app
