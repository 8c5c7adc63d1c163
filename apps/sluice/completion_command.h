#pragma once

#include <string>

#include "sluice/exit_code.h"

namespace sluice::app {

/// A script for bash, zsh or fish that completes commands and options.
ExitCode print_completion(const std::string& shell);

} // namespace sluice::app
