#pragma once

#include "expr/cel/internal/tree.h"
#include "expr/program.h"

namespace sluice::expr::cel::internal {

/// `string(x)` and its like: ToString to ToBool.
Outcome convert(Op op, const Value& operand);

} // namespace sluice::expr::cel::internal
