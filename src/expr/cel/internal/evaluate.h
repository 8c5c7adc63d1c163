#pragma once

#include "expr/cel/internal/tree.h"
#include "expr/meter.h"
#include "expr/program.h"

namespace sluice::expr::cel::internal {

/// The outcome of a tree; what it costs is taken off the meter.
Outcome evaluate(const Tree& tree, const Bindings& bindings, Meter& meter);

} // namespace sluice::expr::cel::internal
