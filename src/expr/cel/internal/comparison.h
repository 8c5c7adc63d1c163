#pragma once

#include <compare>
#include <optional>

#include "expr/meter.h"
#include "value/value.h"

namespace sluice::expr::cel::internal {

/// CEL's equality: numbers of all kinds on one line, NaN unlike itself, other kinds that differ
/// unequal. Spends a step for each item; what is given is void once the meter is exhausted.
bool are_equal(const Value& left, const Value& right, Meter& meter);

/// CEL's order; nothing for kinds that have none between them.
std::optional<std::partial_ordering> order(const Value& left, const Value& right, Meter& meter);

} // namespace sluice::expr::cel::internal
