#pragma once

#include <string>
#include <vector>

#include "sluice/exit_code.h"

namespace sluice::app {

struct ValidateOptions {
    std::vector<std::string> files;
    bool is_json = false;
    bool is_express = false; ///< State machines are to run as express ones.
};

/// Checks definitions: everything that is wrong with them, with line and column.
ExitCode validate(const ValidateOptions& options);

} // namespace sluice::app
