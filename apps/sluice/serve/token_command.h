#pragma once

#include "cli/host.h"
#include "sluice/exit_code.h"

namespace sluice::app {

/// Makes a token in the data of a server that does not run: how the first one comes about.
ExitCode create_token(const cli::TokenRequest& options);

} // namespace sluice::app
