#pragma once

#include "expr/cel/internal/tree.h"
#include "expr/meter.h"
#include "expr/program.h"

namespace sluice::expr::cel::internal {

/// `left op right` for Add to Remainder. Checked: what does not fit is a fault.
Outcome compute(Op op, const Value& left, const Value& right, Meter& meter);

Outcome negate(const Value& operand);

} // namespace sluice::expr::cel::internal
