#pragma once

#include <span>

#include "expr/cel/internal/evaluate.h"

namespace sluice::expr::cel::internal {

using runtime::FaultNote;
using runtime::ListBuilder;
using runtime::MapBuilder;

/// One evaluation of a tree, going down it.
class Evaluation {
public:
    Evaluation(const Tree& tree, const Surroundings& surroundings, Machine& machine);

    Cell run(NodeId id);

private:
    Cell work(const Node& node);
    Cell path(std::uint32_t number);
    Cell has_path(const Path& path);
    Cell keep(Value value);
    Cell fail(const Failure& failure);
    Cell list(const Node& node);
    Cell map(const Node& node);
    Cell put(MapBuilder& entries, const Cell& key, const Cell& value);
    Cell unary(const Node& node);
    Cell connect(const Node& node, bool deciding);
    Cell conditional(const Node& node);
    Cell bind(const Node& node);
    Cell not_a_bool(std::string_view where, const Cell& found);

    Cell chain(const Node& node);
    Cell apply(const Node& step, const Cell& left);
    Cell apply_binary(const Node& step, const Cell& left);
    Cell apply_lazily(const Node& step, const Cell& left);
    Cell call(const Node& node, const Cell* receiver);
    Cell map_optional(const Node& step, const Cell& left);

    Cell loop(const Node& step, const Cell& range);
    void set_locals(const Loop& loop, const Cell& range, std::size_t at);
    Cell decide(const Node& step, const Cell& range, bool deciding);
    Cell count_one(const Node& step, const Cell& range);
    Cell collect_list(const Node& step, const Cell& range);
    Cell collect_map(const Node& step, const Cell& range);
    /// Whether the item is to be collected; a fault when that cannot be told.
    Cell is_wanted(const Node& step);
    NodeId body_of(const Node& step) const { return tree_.operands_of(step).back(); }

    const Tree& tree_;
    const Surroundings& surroundings_;
    Machine& machine_;
    std::span<Cell> locals_;
    /// Of paths that were asked for, where loops may ask again.
    std::span<const Cell*> known_paths_;
};

} // namespace sluice::expr::cel::internal
