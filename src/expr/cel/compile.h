#pragma once

#include <string_view>

#include "expr/program.h"

namespace sluice::expr::cel {

/// What can be seen to be wrong is a fault here: bad syntax, unknown names and functions, a wrong
/// number of arguments, constants of kinds that do not fit, conditions that are never a bool.
Compiled compile(std::string_view text, const CompileOptions& options);

} // namespace sluice::expr::cel
