#pragma once

#include "sluice/exit_code.h"
#include "sluice/run/run_command.h"
#include "workflow/raw/parse.h"

namespace sluice::app {

/// Whether the options ask for a state machine to be tried: on virtual time, its tasks mocked.
bool is_trial(const RunOptions& options);

/// Tries a state machine and prints how it ended, one JSON object. Its tasks are answered by mocks,
/// and time passes when nothing else is left to do.
ExitCode try_machine(const RunOptions& options);

} // namespace sluice::app
