#pragma once

#include <compare>
#include <optional>

#include "expr/cel/runtime/cell.h"
#include "expr/meter.h"

namespace sluice::expr::cel::runtime {

/// Numbers of all kinds on one line. An integer meets a double as a double, rounded: the
/// conformance suite has 2^63 - 1 >= 2^63 as a double.
std::partial_ordering compare_numbers(const Cell& left, const Cell& right);

/// CEL's equality: NaN unlike itself, other kinds that differ unequal. Spends a step for each item;
/// what is given is void once the meter is exhausted.
bool are_equal(const Cell& left, const Cell& right, Meter& meter);

/// CEL's order; nothing for kinds that have none between them.
std::optional<std::partial_ordering> order(const Cell& left, const Cell& right, Meter& meter);

} // namespace sluice::expr::cel::runtime
