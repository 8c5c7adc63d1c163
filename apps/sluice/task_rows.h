#pragma once

#include <vector>

#include "cli/command.h"
#include "cli/host.h"

namespace sluice::app {

/// What a person tells a task of a run, on a server or in a data directory: `skip`, `set-result`,
/// `approve`.
std::vector<cli::Command> task_rows(const cli::Host& host);

/// Lets the command `retry` work on a data directory too.
void add_data_to_retry(std::vector<cli::Command>& commands);
/// `backfill` of a file, in a data directory.
void add_data_to_backfill(std::vector<cli::Command>& commands);

} // namespace sluice::app
