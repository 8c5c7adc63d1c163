#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace sluice::cli {

struct Program {
    std::string name;
    std::string help;
    std::string version;
    std::string footer;
    std::vector<Command> commands;
};

/// Fills what the words of a command line say and runs the command they name. What is wrong with
/// them is told on standard error, with what was probably meant.
ExitCode run(const Program& program, std::span<char* const> arguments);

} // namespace sluice::cli
