#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace sluice::cli {

/// A script that lets a shell complete commands, options and what they take, run ids included:
/// `bash`, `zsh` or `fish`.
std::string completion_script(const std::string& shell, const std::vector<Command>& commands);

} // namespace sluice::cli
