#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace sluice::graph::internal {

struct Link {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
};

/// A node in its layer, or a line that passes through it.
struct Slot {
    std::uint32_t node = none; ///< None: a line, which all edges of its `source` share.
    std::uint32_t source = 0;
    std::uint32_t rank = 0;
    std::vector<std::uint32_t> above;
    std::vector<std::uint32_t> below;
};

/// Nodes in layers, so that every edge leads downwards, by the longest way from above.
struct Layers {
    std::vector<Slot> slots;                       ///< Those of the nodes first, in their order.
    std::vector<std::vector<std::uint32_t>> ranks; ///< Slots from left to right.
    std::vector<std::uint32_t> back;               ///< Edges that close a cycle: they are left out.
    std::vector<std::uint32_t> far; ///< Edges without lines through layers, for want of room.
};

/// The same for the same input; the time is about linear in what it gives.
Layers arrange(std::size_t nodes, std::span<const Link> edges);

/// The middle of each slot, from 0, so that none overlap and edges are as straight as may be.
/// Widths are those of the slots; the middle of one is `width / 2` from its left.
std::vector<int> place(const Layers& layers, std::span<const int> widths, int gap);

} // namespace sluice::graph::internal
