#include "graph/internal/node_lines.h"

#include <fmt/format.h>

namespace sluice::graph::internal {

namespace {

constexpr auto line_cells_max = std::size_t{36};

std::string_view mark_of(Tone tone) {
    switch (tone) {
        case Tone::Plain: return "";
        case Tone::Good: return "✓ ";
        case Tone::Bad: return "✗ ";
        case Tone::Busy: return "▶ ";
        case Tone::Waiting: return "… ";
        case Tone::Off: return "· ";
    }
    return "";
}

} // namespace

std::string status_text(const Node& node, Letters letters) {
    auto status = shown(node.status, line_cells_max, letters);
    return letters == Letters::Ascii || status.empty()
               ? status
               : fmt::format("{}{}", mark_of(node.tone), status);
}

NodeLines::NodeLines(const Graph& graph, const Levels& levels, Letters letters)
    : graph_(graph), letters_(letters), told_(graph.nodes.size()) {
    add_edges(levels.top);
    for (const auto& level : levels.inner) {
        add_edges(level);
    }
}

void NodeLines::add_edges(const Level& level) {
    if (level.nodes.empty()) {
        return;
    }
    for (auto at : level.edges) {
        const auto& edge = graph_.edges[at];
        if (!edge.label.empty()) {
            told_[edge.to].push_back(
                text(fmt::format("({}: {})", graph_.nodes[edge.from].name, edge.label)));
        }
    }
    for (auto link : arrange(level.nodes.size(), level.links).back) {
        const auto& edge = graph_.edges[level.edges[link]];
        told_[edge.from].push_back(text(fmt::format(
            "{} {}", letters_ == Letters::Ascii ? "back to" : "↑", graph_.nodes[edge.to].name)));
    }
}

std::string NodeLines::text(std::string_view told) const {
    return shown(told, line_cells_max, letters_);
}

std::vector<std::string> NodeLines::of(std::uint32_t node) const {
    const auto& each = graph_.nodes[node];
    auto lines = std::vector<std::string>{text(each.name)};
    if (!each.detail.empty()) {
        lines.push_back(text(each.detail));
    }
    lines.insert(lines.end(), told_[node].begin(), told_[node].end());
    if (!each.status.empty()) {
        lines.push_back(status_text(each, letters_));
    }
    return lines;
}

} // namespace sluice::graph::internal
