#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "graph/internal/levels.h"
#include "graph/internal/node_lines.h"
#include "graph/writers.h"

namespace sluice::graph {

namespace {

using internal::Level;

constexpr auto name_cells_max = std::size_t{40};
constexpr auto detail_cells_max = std::size_t{60};
constexpr auto sources_max = std::size_t{5};

class ListWriter {
public:
    ListWriter(const Graph& graph, Letters letters)
        : graph_(graph), letters_(letters), levels_(graph), sources_(graph.nodes.size()) {
        for (auto at = std::size_t{0}; at < graph.edges.size(); ++at) {
            sources_[graph.edges[at].to].push_back(at);
        }
    }

    std::string write() {
        // Levels within levels, without a stack: what is left to write, the next one last.
        push(levels_.top, 0);
        while (!left_.empty()) {
            auto next = std::move(left_.back());
            left_.pop_back();
            if (next.node == none) {
                out_ += next.heading;
                continue;
            }
            write_node(next.node, next.depth);
            push(levels_.of(next.node), next.depth + 1);
        }
        return std::move(out_);
    }

private:
    struct Item {
        std::uint32_t node = none;
        std::size_t depth = 0;
        std::string heading;
    };

    void push(const Level& level, std::size_t depth) {
        if (level.nodes.empty()) {
            return;
        }
        auto layers = internal::arrange(level.nodes.size(), level.links);
        auto items = std::vector<Item>{};
        for (auto rank = std::size_t{0}; rank < layers.ranks.size(); ++rank) {
            auto nodes = std::vector<std::uint32_t>{};
            for (auto slot : layers.ranks[rank]) {
                if (layers.slots[slot].node != none) {
                    nodes.push_back(level.nodes[layers.slots[slot].node]);
                }
            }
            std::ranges::sort(nodes);
            items.push_back({.heading = fmt::format("{:{}}level {}\n", "", depth * 4, rank + 1)});
            for (auto node : nodes) {
                items.push_back({.node = node, .depth = depth, .heading = {}});
            }
        }
        left_.insert(left_.end(), std::make_move_iterator(items.rbegin()),
                     std::make_move_iterator(items.rend()));
    }

    void write_node(std::uint32_t at, std::size_t depth) {
        const auto& node = graph_.nodes[at];
        auto line =
            fmt::format("{:{}}{}", "", (depth * 4) + 2, shown(node.name, name_cells_max, letters_));
        auto add = [&line](std::string_view part) {
            line += part.empty() ? std::string{} : fmt::format("  {}", part);
        };
        add(shown(node.detail, detail_cells_max, letters_));
        add(sources_text(at));
        add(internal::status_text(node, letters_));
        out_ += line + "\n";
    }

    std::string sources_text(std::uint32_t node) const {
        const auto& edges = sources_[node];
        auto text = std::string{};
        for (auto at = std::size_t{0}; at < std::min(edges.size(), sources_max); ++at) {
            const auto& edge = graph_.edges[edges[at]];
            text += text.empty() ? "after " : ", ";
            text += shown(graph_.nodes[edge.from].name, name_cells_max, letters_);
            if (!edge.label.empty()) {
                text += fmt::format(" ({})", shown(edge.label, name_cells_max, letters_));
            }
        }
        return edges.size() > sources_max
                   ? fmt::format("{} and {} more", text, edges.size() - sources_max)
                   : text;
    }

    const Graph& graph_;
    Letters letters_;
    internal::Levels levels_;
    std::vector<std::vector<std::size_t>> sources_; ///< Edges by the node they lead to.
    std::vector<Item> left_;
    std::string out_;
};

} // namespace

std::string to_list(const Graph& graph, Letters letters) {
    return ListWriter{graph, letters}.write();
}

} // namespace sluice::graph
