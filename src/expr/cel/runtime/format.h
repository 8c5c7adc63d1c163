#pragma once

#include <string_view>

#include "expr/cel/runtime/machine.h"

namespace sluice::expr::cel::runtime {

/// The strings extension's `format`: %s %d %f %e %x %X %o %b and %%, a precision for %f and %e.
Cell format(Machine& machine, std::string_view pattern, const Cell& arguments);

} // namespace sluice::expr::cel::runtime
