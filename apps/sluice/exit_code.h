#pragma once

#include "cli/exit_code.h"

namespace sluice::app {

using cli::exit_code_of;
using cli::ExitCode;
using cli::report;

} // namespace sluice::app
