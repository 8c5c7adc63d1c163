#pragma once

#include "base/result.h"

namespace sluice::app {

/// What the program's exit tells: docs/reference/commands.md.
enum class ExitCode : int {
    Ok = 0,
    Failed = 1,      ///< The run failed, differences or damage were found.
    Invalid = 2,     ///< Wrong usage, or a definition or event that is not valid.
    NotFound = 3,    ///< No such run, event or data directory.
    Unavailable = 4, ///< The data directory is in use, damaged or full.
    Waiting = 5,     ///< The run waits for events that nobody sends.
    Interrupted = 130,
};

ExitCode exit_code_of(const Error& error);
/// Says what went wrong on standard error.
ExitCode report(const Error& error);

} // namespace sluice::app
