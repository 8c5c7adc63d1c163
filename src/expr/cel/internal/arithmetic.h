#pragma once

#include "expr/cel/internal/machine.h"
#include "expr/cel/internal/tree.h"

namespace sluice::expr::cel::internal {

/// `left op right` for Add to Remainder. Checked: what does not fit is a fault.
Cell compute(Op op, const Cell& left, const Cell& right, Machine& machine);

Cell negate(const Cell& operand, Machine& machine);

/// Years 1 to 9999 are what CEL has.
bool is_in_range(Moment moment);

} // namespace sluice::expr::cel::internal
