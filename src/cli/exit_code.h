#pragma once

#include "base/result.h"

namespace sluice::cli {

/// What the program's exit tells: docs/reference/commands.md.
enum class ExitCode : int {
    Ok = 0,
    Failed = 1,      ///< The run failed, differences or damage were found.
    Invalid = 2,     ///< Wrong usage, or a definition or event that is not valid.
    NotFound = 3,    ///< No such run, event or data directory.
    Unavailable = 4, ///< The server cannot be reached, or the data directory is in use or damaged.
    Waiting = 5,     ///< The run goes on, and nobody waits any longer.
    Refused = 6,     ///< The server wants a token, or a better one.
    Interrupted = 130,
};

ExitCode exit_code_of(const Error& error);
/// Says what went wrong on standard error.
ExitCode report(const Error& error);

} // namespace sluice::cli
