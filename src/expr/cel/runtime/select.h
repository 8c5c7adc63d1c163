#pragma once

#include "expr/cel/runtime/machine.h"

namespace sluice::expr::cel::runtime {

/// `left.name`, `left[key]`: what is missing is a fault. Of an optional it gives an optional.
Cell select(Machine& machine, const Cell& left, std::string_view name);
Cell item_at(Machine& machine, const Cell& left, const Cell& key);
/// `left.?name`, `left[?key]`: an optional.
Cell select_optional(Machine& machine, const Cell& left, std::string_view name);
Cell item_at_optional(Machine& machine, const Cell& left, const Cell& key);
/// `has(left.name)`
Cell has_member(Machine& machine, const Cell& left, std::string_view name);
/// `needle in container`
Cell is_in(Machine& machine, const Cell& needle, const Cell& container);

} // namespace sluice::expr::cel::runtime
