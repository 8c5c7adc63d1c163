#pragma once

#include <span>

#include "expr/cel/internal/tree.h"
#include "expr/cel/runtime/machine.h"
#include "expr/program.h"

namespace sluice::expr::cel::internal {

/// What an expression sees: paths are asked of the bindings, variables are there as cells. Null
/// bindings have nothing.
struct Surroundings {
    const Bindings* bindings = nullptr;
    std::span<const Cell> variables;
};

/// The outcome of a tree; what it costs is taken off the meter.
Outcome evaluate(const Tree& tree, const Bindings& bindings, const Budget& budget, Meter& meter);
/// The value of one of its nodes, which lives as long as the machine's arena.
Cell evaluate(const Tree& tree, NodeId node, const Surroundings& surroundings, Machine& machine);

} // namespace sluice::expr::cel::internal
