#pragma once

#include "cli/command.h"

namespace sluice::app {

/// `sluice test` with its words.
cli::Command test_row();

} // namespace sluice::app
