#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "expr/cel/internal/tree.h"

namespace sluice::expr::cel::internal {

/// Puts a tree together, bottom up. What is constant in a list or map literal is made once, here.
class TreeBuilder {
public:
    NodeId constant(std::size_t position, Value value);
    NodeId path(std::size_t position, std::string_view root);
    NodeId node(Op op, std::size_t position, KindSet kinds, std::span<const NodeId> operands = {},
                std::uint32_t detail = 0);
    NodeId member(std::size_t position, std::string_view name);
    NodeId list(std::size_t position, std::span<const NodeId> items);
    NodeId map(std::size_t position, std::span<const NodeId> entries);
    /// Left to right; just `first` when nothing is applied to it.
    NodeId chain(NodeId first, std::span<const NodeId> steps);

    const Node& operator[](NodeId id) const { return tree_.nodes[id]; }

    /// Make the path one member longer, if this is a path.
    bool extend(NodeId id, std::string_view member);
    /// Make the path one index longer, if this is a path and the index a fit constant.
    bool extend(NodeId id, NodeId index);
    void set_path_text(NodeId id, std::string_view text);
    /// Turn `e.f` into `has(e.f)`; false when it is something else.
    bool ask_for_presence(NodeId id);

    Tree finish(NodeId root, std::size_t nesting) &&;

private:
    bool are_constant(std::span<const NodeId> ids) const;
    const Value& constant_of(NodeId id) const;
    void append(NodeId path, std::string part, bool is_member);

    Tree tree_;
};

} // namespace sluice::expr::cel::internal
