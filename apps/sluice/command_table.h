#pragma once

#include <vector>

#include "cli/command.h"
#include "cli/host.h"

namespace sluice::app {

/// Every command of the program with its words: help, completion and suggestions come from here.
/// The host outlives it.
std::vector<cli::Command> command_table(const cli::Host& host);

} // namespace sluice::app
