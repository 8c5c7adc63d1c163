#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "expr/cel/internal/refusal.h"
#include "expr/cel/internal/tree.h"
#include "expr/cel/runtime/function.h"
#include "expr/meter.h"

namespace sluice::expr::cel::internal {

/// Puts a tree together, bottom up. What is constant is computed here, once.
class TreeBuilder {
public:
    TreeBuilder();

    NodeId constant(std::size_t position, const Cell& value);
    /// Texts are copied.
    NodeId text(std::size_t position, std::string_view text, Kind kind);
    NodeId path(std::size_t position, std::string_view root);
    NodeId node(Op op, std::size_t position, KindSet kinds, std::span<const NodeId> operands = {},
                std::size_t detail = 0);
    NodeId member(Op op, std::size_t position, std::string_view name);
    NodeId fail(std::size_t position, std::string_view code, std::string message);
    NodeId call(Op op, std::size_t position, const Function& function,
                std::span<const NodeId> operands);
    NodeId loop(std::size_t position, const Loop& loop, KindSet kinds,
                std::span<const NodeId> operands);
    /// `x.matches('…')` with its pattern compiled; a fault when it cannot be.
    Parsed<NodeId> match(std::size_t position, NodeId pattern);
    /// `x in […]`, large lists of keys as sets.
    NodeId in(std::size_t position, NodeId container);

    /// The same, or its value when that is known already. Kinds that do not fit are a fault.
    Parsed<NodeId> folded(NodeId id);
    /// Left to right; just `first` when nothing is applied to it.
    Parsed<NodeId> chain(NodeId first, std::span<const NodeId> steps);

    const Node& operator[](NodeId id) const { return tree_.nodes[id]; }
    bool is_constant(NodeId id) const { return tree_.nodes[id].op == Op::Constant; }
    const Cell& constant_of(NodeId id) const { return tree_.constants[tree_.nodes[id].detail]; }

    /// Make the path one member longer, if this is a path.
    bool extend(NodeId id, std::string_view member);
    /// Make the path one index longer, if this is a path and the index a fit constant.
    bool extend(NodeId id, NodeId index);
    void set_path_text(NodeId id, std::string_view text);
    /// Turn `e.f` into `has(e.f)`: the last step, or the path when there are none. False when it is
    /// something else.
    bool ask_for_presence(NodeId first, std::span<const NodeId> steps);

    Tree finish(NodeId root, std::size_t nesting, std::size_t slots) &&;

private:
    bool are_constant(std::span<const NodeId> ids) const;
    bool is_foldable(const Node& node) const;
    void append(NodeId path, std::string part, bool is_member);

    Tree tree_;
    Meter meter_;
};

} // namespace sluice::expr::cel::internal
