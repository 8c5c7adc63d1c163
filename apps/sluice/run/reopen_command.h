#pragma once

#include <string>

#include "sluice/exit_code.h"

namespace sluice::app {

struct ReopenOptions {
    std::string data;
    std::string run;
    bool is_json = false;
};

/// Lets a run that ended without success go on as a new generation, when it is continued next.
ExitCode reopen(const ReopenOptions& options);

} // namespace sluice::app
