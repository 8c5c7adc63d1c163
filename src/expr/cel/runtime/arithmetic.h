#pragma once

#include <cstdint>

#include "expr/cel/runtime/machine.h"

namespace sluice::expr::cel::runtime {

enum class Arithmetic : std::uint8_t { Add, Subtract, Multiply, Divide, Remainder };

/// `left op right`. Checked: what does not fit is a fault.
Cell compute(Arithmetic op, const Cell& left, const Cell& right, Machine& machine);

Cell negate(const Cell& operand, Machine& machine);

/// Years 1 to 9999 are what CEL has.
bool is_in_range(Moment moment);

} // namespace sluice::expr::cel::runtime
