#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.h"
#include "graph/internal/levels.h"
#include "graph/writers.h"

namespace sluice::graph {

namespace {

constexpr auto mermaid_cells_max = std::size_t{80};

/// Everything but plain letters becomes a code that Mermaid takes for no syntax of its own, nor for
/// HTML or Markdown.
std::string coded(std::string_view text) {
    auto out = std::string{};
    auto safe = shown(text, mermaid_cells_max);
    for (auto rest = std::string_view{safe}; !rest.empty();) {
        auto point = decode_utf8(rest);
        auto letter = rest.substr(0, point.size);
        rest.remove_prefix(point.size);
        auto is_plain = point.code >= 0x80 || (point.code >= '0' && point.code <= '9') ||
                        (point.code >= 'A' && point.code <= 'Z') ||
                        (point.code >= 'a' && point.code <= 'z') ||
                        std::string_view{" .,:-_/"}.contains(letter.front());
        out += is_plain ? std::string{letter} : fmt::format("#{};", point.code);
    }
    return out;
}

std::string_view class_of(Tone tone) {
    switch (tone) {
        case Tone::Plain: return "";
        case Tone::Good: return "good";
        case Tone::Bad: return "bad";
        case Tone::Busy: return "busy";
        case Tone::Waiting: return "waiting";
        case Tone::Off: return "off";
    }
    return "";
}

class MermaidWriter {
public:
    explicit MermaidWriter(const Graph& graph) : graph_(graph), levels_(graph) {}

    std::string write() {
        if (!graph_.title.empty()) {
            fmt::format_to(to(), "---\ntitle: \"{}\"\n---\n", coded(graph_.title));
        }
        out_ += "flowchart TD\n";
        write_nodes();
        for (const auto& edge : graph_.edges) {
            auto label = edge.label.empty() ? "" : fmt::format("|\"{}\"|", coded(edge.label));
            fmt::format_to(to(), "  n{} {}{} n{}\n", edge.from,
                           edge.line == Line::Dashed ? "-.->" : "-->", label, edge.to);
        }
        write_classes();
        return std::move(out_);
    }

private:
    std::back_insert_iterator<std::string> to() { return std::back_inserter(out_); }

    static std::string label_of(const Node& node) {
        auto label = coded(node.name);
        for (const auto& line : {node.detail, node.status}) {
            label += line.empty() ? "" : "<br/>" + coded(line);
        }
        return label;
    }

    void write_nodes() {
        // Subgraphs within subgraphs, without a stack: a level's nodes, and where it goes on.
        auto open = std::vector<std::pair<const internal::Level*, std::size_t>>{{&levels_.top, 0}};
        while (!open.empty()) {
            auto& [level, next] = open.back();
            auto indent = open.size() * 2;
            if (next == level->nodes.size()) {
                open.pop_back();
                if (!open.empty()) {
                    fmt::format_to(to(), "{:{}}end\n", "", open.size() * 2);
                }
                continue;
            }
            auto at = level->nodes[next++];
            auto label = label_of(graph_.nodes[at]);
            if (!levels_.has_inner(at)) {
                fmt::format_to(to(), "{:{}}n{}[\"{}\"]\n", "", indent, at, label);
                continue;
            }
            fmt::format_to(to(), "{:{}}subgraph n{}[\"{}\"]\n", "", indent, at, label);
            open.emplace_back(&levels_.of(at), 0);
        }
    }

    void write_classes() {
        auto has_classes = false;
        for (auto at = std::size_t{0}; at < graph_.nodes.size(); ++at) {
            if (auto name = class_of(graph_.nodes[at].tone); !name.empty()) {
                fmt::format_to(to(), "  class n{} {}\n", at, name);
                has_classes = true;
            }
        }
        if (has_classes) {
            out_ +=
                "  classDef good stroke:#2e9e4f\n  classDef bad stroke:#d1383d\n"
                "  classDef busy stroke:#2f7ed8\n  classDef waiting stroke:#c98a12\n"
                "  classDef off stroke:#999999\n";
        }
    }

    const Graph& graph_;
    internal::Levels levels_;
    std::string out_;
};

} // namespace

std::string to_mermaid(const Graph& graph) {
    return MermaidWriter{graph}.write();
}

} // namespace sluice::graph
