#pragma once

#include <string_view>

#include "expr/cel/internal/tree.h"
#include "expr/meter.h"
#include "expr/program.h"

namespace sluice::expr::cel::internal {

/// `left op right` for the steps of a chain, all but Member and HasMember; `right` is null where a
/// step has no operand.
Outcome apply(Op op, const Value& left, const Value& right, Meter& meter);

/// `left.name`
Outcome select(const Value& left, std::string_view name);
/// `has(left.name)`
Outcome has_member(const Value& left, std::string_view name);

} // namespace sluice::expr::cel::internal
