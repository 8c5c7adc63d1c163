#pragma once

#include <string>

#include "cli/exit_code.h"
#include "value/value.h"

namespace sluice::cli {

/// How a run ended, as far as it has: its result on standard output, an error on standard error.
/// `ending` has `status`, `result` and `error`.
ExitCode tell_ending(const std::string& run, const Value& ending, bool is_json);

} // namespace sluice::cli
