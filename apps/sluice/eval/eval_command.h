#pragma once

#include <string>
#include <vector>

#include "sluice/exit_code.h"

namespace sluice::app {

struct EvalOptions {
    std::string language;
    std::string expression;
    std::string input;
    std::string event;
    std::vector<std::string> bindings;
    bool is_batch = false;
    bool is_typed = false;
};

/// Evaluates one expression and prints its value, or with `--batch` one for each line of standard
/// input.
ExitCode eval(const EvalOptions& options);

} // namespace sluice::app
