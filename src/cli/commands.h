#pragma once

#include <vector>

#include "cli/command.h"
#include "cli/host.h"

namespace sluice::cli {

// One file for each of these, which has the command's words and what it does. The host outlives
// them.
Command deploy_command(const Host& host);
Command start_command(const Host& host);
/// Runs for the times of a range that is past.
Command backfill_command(const Host& host);
Command ps_command(const Host& host);
Command show_command(const Host& host);
Command why_command(const Host& host);
Command replay_command(const Host& host);
Command watch_command(const Host& host);
Command events_command(const Host& host);
Command send_command(const Host& host);
/// cancel, terminate, pause, resume: what a run is told.
std::vector<Command> change_commands(const Host& host);
/// list, get, set and delete of routes, sources and whatever else people set up by name.
std::vector<Command> document_commands(const Host& host);
std::vector<Command> token_commands(const Host& host);
Command backup_command(const Host& host);
std::vector<Command> profile_commands(const Host& host);

} // namespace sluice::cli
