#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/internal/levels.h"
#include "graph/label.h"

namespace sluice::graph::internal {

/// What a box says in a terminal: its node, and of its edges what lines cannot.
class NodeLines {
public:
    NodeLines(const Graph& graph, const Levels& levels, Letters letters);

    std::vector<std::string> of(std::uint32_t node) const;

private:
    void add_edges(const Level& level);
    std::string text(std::string_view told) const;

    const Graph& graph_;
    Letters letters_;
    std::vector<std::vector<std::string>> told_; ///< Of edges, by node.
};

/// A status with a mark in front that needs no colour.
std::string status_text(const Node& node, Letters letters);

} // namespace sluice::graph::internal
