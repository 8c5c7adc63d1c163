#pragma once

#include <string>
#include <vector>

#include "sluice/exit_code.h"

namespace sluice::app {

struct TestOptions {
    std::vector<std::string> files;
    std::string filter; ///< Part of a case's name; empty: all.
    bool stops_at_failure = false;
    bool is_json = false;
};

/// Runs the cases of test files. Ok only when all of them pass.
ExitCode test(const TestOptions& options);

} // namespace sluice::app
