#pragma once

#include <string_view>

#include "expr/cel/internal/machine.h"

namespace sluice::expr::cel::internal {

/// The strings extension's `format`: %s %d %f %e %x %X %o %b and %%, a precision for %f and %e.
Cell format(Machine& machine, std::string_view pattern, const Cell& arguments);

} // namespace sluice::expr::cel::internal
