#pragma once

#include "expr/internal/tree.h"
#include "expr/program.h"

namespace sluice::expr::internal {

/// `string(x)` and its like: ToString to ToBool.
Outcome convert(Op op, const Value& operand);

} // namespace sluice::expr::internal
