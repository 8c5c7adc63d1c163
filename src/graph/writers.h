#pragma once

#include <cstddef>
#include <string>

#include "graph/graph.h"
#include "graph/label.h"

namespace sluice::graph {

struct TextOptions {
    Letters letters = Letters::Unicode;
    std::size_t columns_max = 160; ///< What is wider, or has more nodes, becomes a list.
    std::size_t nodes_max = 400;
};

/// Boxes and lines, or, where that would be too large, `to_list`, with a note that says so.
std::string to_text(const Graph& graph, const TextOptions& options = {});
/// The nodes by level, with those they come after.
std::string to_list(const Graph& graph, Letters letters = Letters::Unicode);
/// A picture that needs nothing else, for light and dark pages.
std::string to_svg(const Graph& graph);
/// For Graphviz; nodes with others in them are clusters.
std::string to_dot(const Graph& graph);
/// For Mermaid; nodes with others in them are subgraphs.
std::string to_mermaid(const Graph& graph);

} // namespace sluice::graph
