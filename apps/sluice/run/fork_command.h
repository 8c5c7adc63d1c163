#pragma once

#include <cstdint>
#include <string>

#include "sluice/exit_code.h"
#include "sluice/run/run_command.h"

namespace sluice::app {

struct ForkOptions {
    std::string from;     ///< The run.
    std::uint64_t at = 0; ///< The event it is forked at.
    RunOptions run;       ///< How the new run goes on; `run` is its id, empty: from run and event.
};

/// Begins a run as another was right after one of its events, and runs it to its end. The other
/// stays as it is.
ExitCode fork(const ForkOptions& options);

} // namespace sluice::app
