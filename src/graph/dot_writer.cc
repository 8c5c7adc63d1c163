#include <iterator>

#include <fmt/format.h>

#include "graph/internal/levels.h"
#include "graph/writers.h"

namespace sluice::graph {

namespace {

constexpr auto label_cells_max = std::size_t{80};

/// A quoted text of the DOT language, where backslashes begin escapes of Graphviz' own.
std::string in_quotes(std::string_view text) {
    auto out = std::string{"\""};
    for (auto letter : text) {
        if (letter == '"' || letter == '\\') {
            out += '\\';
        }
        out += letter;
    }
    return out + "\"";
}

std::string_view colour_of(Tone tone) {
    switch (tone) {
        case Tone::Plain: return "#888888";
        case Tone::Good: return "#2e9e4f";
        case Tone::Bad: return "#d1383d";
        case Tone::Busy: return "#2f7ed8";
        case Tone::Waiting: return "#c98a12";
        case Tone::Off: return "#999999";
    }
    return "";
}

class DotWriter {
public:
    explicit DotWriter(const Graph& graph) : graph_(graph), levels_(graph) {}

    std::string write() {
        fmt::format_to(to(), "digraph {} {{\n  compound=true;\n",
                       in_quotes(shown(graph_.title, 100)));
        fmt::format_to(to(), "  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n");
        fmt::format_to(to(), "  edge [fontname=\"sans-serif\"];\n");
        write_nodes();
        for (const auto& edge : graph_.edges) {
            write_edge(edge);
        }
        return out_ + "}\n";
    }

private:
    std::back_insert_iterator<std::string> to() { return std::back_inserter(out_); }

    /// Label lines are set apart by `\n`, which is no part of what is escaped.
    static std::string label_of(const Node& node) {
        auto label = in_quotes(shown(node.name, label_cells_max));
        for (const auto& line : {node.detail, node.status}) {
            if (!line.empty()) {
                label.pop_back();
                label += "\\n" + in_quotes(shown(line, label_cells_max)).substr(1);
            }
        }
        return label;
    }

    void write_nodes() {
        // Clusters within clusters, without a stack: a level's nodes, and where it goes on.
        auto open = std::vector<std::pair<const internal::Level*, std::size_t>>{{&levels_.top, 0}};
        while (!open.empty()) {
            auto& [level, next] = open.back();
            auto indent = open.size() * 2;
            if (next == level->nodes.size()) {
                open.pop_back();
                if (!open.empty()) {
                    fmt::format_to(to(), "{:{}}}}\n", "", open.size() * 2);
                }
                continue;
            }
            auto at = level->nodes[next++];
            const auto& node = graph_.nodes[at];
            if (!levels_.has_inner(at)) {
                fmt::format_to(to(), "{:{}}n{} [label={}, color=\"{}\"];\n", "", indent, at,
                               label_of(node), colour_of(node.tone));
                continue;
            }
            fmt::format_to(to(), "{:{}}subgraph cluster_{} {{\n{:{}}label={}; color=\"{}\";\n", "",
                           indent, at, "", indent + 2, label_of(node), colour_of(node.tone));
            // What edges of the cluster hold on to.
            fmt::format_to(to(), "{:{}}n{} [shape=point, style=invis];\n", "", indent + 2, at);
            open.emplace_back(&levels_.of(at), 0);
        }
    }

    void write_edge(const Edge& edge) {
        auto attributes = std::vector<std::string>{};
        if (!edge.label.empty()) {
            attributes.push_back("label=" + in_quotes(shown(edge.label, label_cells_max)));
        }
        if (edge.line == Line::Dashed) {
            attributes.emplace_back("style=dashed");
        }
        if (levels_.has_inner(edge.from)) {
            attributes.push_back(fmt::format("ltail=cluster_{}", edge.from));
        }
        if (levels_.has_inner(edge.to)) {
            attributes.push_back(fmt::format("lhead=cluster_{}", edge.to));
        }
        fmt::format_to(to(), "  n{} -> n{}", edge.from, edge.to);
        if (!attributes.empty()) {
            fmt::format_to(to(), " [{}]", fmt::join(attributes, ", "));
        }
        out_ += ";\n";
    }

    const Graph& graph_;
    internal::Levels levels_;
    std::string out_;
};

} // namespace

std::string to_dot(const Graph& graph) {
    return DotWriter{graph}.write();
}

} // namespace sluice::graph
