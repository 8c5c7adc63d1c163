#pragma once

#include "cli/command.h"
#include "cli/host.h"

namespace sluice::app {

/// `sluice graph` with its words.
cli::Command graph_row(const cli::Host& host);

} // namespace sluice::app
