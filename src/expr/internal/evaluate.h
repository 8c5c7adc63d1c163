#pragma once

#include "expr/internal/meter.h"
#include "expr/internal/tree.h"
#include "expr/program.h"

namespace sluice::expr::internal {

/// The outcome of a tree; what it costs is taken off the meter.
Outcome evaluate(const Tree& tree, const Bindings& bindings, Meter& meter);

} // namespace sluice::expr::internal
