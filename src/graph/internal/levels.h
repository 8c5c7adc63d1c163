#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "graph/internal/layers.h"

namespace sluice::graph::internal {

/// The nodes that are drawn in the same node, with the edges between them.
struct Level {
    std::vector<std::uint32_t> nodes; ///< Of the graph.
    std::vector<Link> links;          ///< By places in `nodes`.
    std::vector<std::uint32_t> edges; ///< Of the graph, for each link.
};

/// A graph by what is drawn in what. Edges that leave their level are left out.
struct Levels {
    Level top;
    std::vector<Level> inner; ///< By node: what is in it.

    explicit Levels(const Graph& graph) : inner(graph.nodes.size()) {
        auto places = std::vector<std::uint32_t>{};
        for (auto at = std::uint32_t{0}; at < graph.nodes.size(); ++at) {
            auto& level = of(graph.nodes[at].parent);
            places.push_back(static_cast<std::uint32_t>(level.nodes.size()));
            level.nodes.push_back(at);
        }
        for (auto at = std::uint32_t{0}; at < graph.edges.size(); ++at) {
            const auto& edge = graph.edges[at];
            auto parent = graph.nodes[edge.from].parent;
            if (parent == graph.nodes[edge.to].parent) {
                of(parent).links.push_back({places[edge.from], places[edge.to]});
                of(parent).edges.push_back(at);
            }
        }
    }

    Level& of(std::uint32_t parent) { return parent == none ? top : inner[parent]; }
    const Level& of(std::uint32_t parent) const { return parent == none ? top : inner[parent]; }
    bool has_inner(std::uint32_t node) const { return !inner[node].nodes.empty(); }
};

} // namespace sluice::graph::internal
