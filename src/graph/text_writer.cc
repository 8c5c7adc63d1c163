#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "graph/internal/canvas.h"
#include "graph/internal/layers.h"
#include "graph/internal/levels.h"
#include "graph/internal/node_lines.h"
#include "graph/writers.h"

namespace sluice::graph {

namespace {

using internal::Canvas;
using internal::Layers;
using internal::Level;
using internal::Point;

constexpr auto box_gap = 2;
constexpr auto box_width_min = 5;

/// What is drawn for a node, before it has a place.
struct Box {
    std::vector<std::string> lines;
    std::optional<Canvas> inside;
    int width = 0;
    int height = 0;

    void measure() {
        auto widest = inside ? inside->width() : 0;
        for (const auto& line : lines) {
            widest = std::max(widest, static_cast<int>(cells_of(std::string_view{line})));
        }
        width = std::max(box_width_min, widest + 4);
        height = static_cast<int>(lines.size()) + 2 + (inside ? inside->height() : 0);
    }

    void draw(Canvas& canvas, Point corner) const {
        canvas.draw_box(corner, width, height);
        auto row = corner.y + 1;
        for (const auto& line : lines) {
            canvas.write({corner.x + 2, row++}, line);
        }
        if (inside) {
            canvas.put({corner.x + 2, row}, *inside);
        }
    }
};

/// The edges that leave one slot for the next layer: one line with branches.
struct Net {
    int from = 0;
    std::vector<int> to;
    int track = -1; ///< The row of its horizontal part; none where it is straight.

    int left() const { return std::min(from, *std::ranges::min_element(to)); }
    int right() const { return std::max(from, *std::ranges::max_element(to)); }
    bool is_straight() const { return left() == right(); }
};

/// Boxes of one level with their lines, drawn layer by layer.
class LevelDrawing {
public:
    LevelDrawing(const Level& level, std::vector<Box> boxes)
        : boxes_(std::move(boxes)), layers_(internal::arrange(level.nodes.size(), level.links)) {
        auto widths = std::vector<int>{};
        for (const auto& slot : layers_.slots) {
            widths.push_back(slot.node == none ? 1 : boxes_[slot.node].width);
        }
        middles_ = internal::place(layers_, widths, box_gap);
        for (auto slot = std::size_t{0}; slot < widths.size(); ++slot) {
            width_ = std::max(width_, middles_[slot] - (widths[slot] / 2) + widths[slot] + 1);
        }
        leaves_at_ = middles_;
    }

    int width() const { return width_; }

    Canvas draw() {
        auto gaps = std::vector<std::vector<Net>>{};
        auto heights = std::vector<int>{};
        auto total = 0;
        for (const auto& rank : layers_.ranks) {
            auto height = 1;
            for (auto slot : rank) {
                const auto node = layers_.slots[slot].node;
                height = std::max(height, node == none ? 1 : boxes_[node].height);
            }
            heights.push_back(height);
            gaps.push_back(route(rank));
            total += height + rows_of(gaps.back());
        }
        auto canvas = Canvas{width_, total};
        auto top = 0;
        for (auto rank = std::size_t{0}; rank < heights.size(); ++rank) {
            draw_rank(canvas, layers_.ranks[rank], top, heights[rank]);
            top += heights[rank];
            if (rank + 1 < heights.size()) {
                draw_gap(canvas, gaps[rank], layers_.ranks[rank + 1], top);
            }
            top += rows_of(gaps[rank]);
        }
        return canvas;
    }

private:
    /// Where a line leaves in a column in which another line, which it does not belong to, arrives,
    /// it leaves one column further right.
    std::vector<Net> route(const std::vector<std::uint32_t>& rank) {
        auto arrivals = std::set<int>{};
        for (auto slot : rank) {
            for (auto below : layers_.slots[slot].below) {
                arrivals.insert(middles_[below]);
            }
        }
        auto nets = std::vector<Net>{};
        for (auto slot : rank) {
            auto net = Net{.from = middles_[slot], .to = {}};
            for (auto below : layers_.slots[slot].below) {
                net.to.push_back(middles_[below]);
            }
            if (net.to.empty()) {
                continue;
            }
            if (arrivals.contains(net.from) &&
                std::ranges::find(net.to, net.from) == net.to.end()) {
                leaves_at_[slot] = ++net.from;
            }
            nets.push_back(std::move(net));
        }
        assign_tracks(nets);
        return nets;
    }

    static void assign_tracks(std::vector<Net>& nets) {
        auto order = std::vector<Net*>{};
        for (auto& net : nets) {
            if (!net.is_straight()) {
                order.push_back(&net);
            }
        }
        std::ranges::stable_sort(order, {}, [](const Net* net) { return net->left(); });
        auto last = std::vector<const Net*>{}; // Of each track.
        for (auto* net : order) {
            auto free = std::ranges::find_if(
                last, [&](const Net* before) { return may_follow(*before, *net); });
            net->track = static_cast<int>(free - last.begin());
            if (free == last.end()) {
                last.push_back(net);
            }
            last[static_cast<std::size_t>(net->track)] = net;
        }
    }

    /// Whether two may lie in the same row: they are apart, or meet where both lead.
    static bool may_follow(const Net& before, const Net& net) {
        auto leads_to = [](const Net& each, int column) {
            return std::ranges::find(each.to, column) != each.to.end();
        };
        auto meeting = net.left();
        return before.right() + 1 < meeting ||
               (before.right() == meeting && leads_to(before, meeting) && leads_to(net, meeting));
    }

    /// Tracks, and a row for the arrows.
    static int rows_of(const std::vector<Net>& nets) {
        auto rows = 0;
        for (const auto& net : nets) {
            rows = std::max(rows, net.track + 2);
        }
        return nets.empty() ? 0 : std::max(rows, 1);
    }

    void draw_rank(Canvas& canvas, const std::vector<std::uint32_t>& rank, int top, int height) {
        auto bottom = top + height - 1;
        for (auto at : rank) {
            const auto& slot = layers_.slots[at];
            auto enters = middles_[at];
            auto leaves = leaves_at_[at];
            auto from = top;
            if (slot.node != none) {
                const auto& box = boxes_[slot.node];
                box.draw(canvas, {enters - (box.width / 2), top});
                from = top + box.height - 1;
            } else if (enters != leaves) {
                canvas.draw_line({enters, top - 1}, {enters, top});
                canvas.draw_line({enters, top}, {leaves, top});
            } else {
                canvas.draw_line({enters, top - 1}, {enters, top});
            }
            if (!slot.below.empty()) {
                canvas.draw_line({leaves, from}, {leaves, bottom + 1});
            }
        }
    }

    void draw_gap(Canvas& canvas, const std::vector<Net>& nets,
                  const std::vector<std::uint32_t>& lower, int top) const {
        auto bottom = top + rows_of(nets) - 1;
        for (const auto& net : nets) {
            if (net.track < 0) {
                canvas.draw_line({net.from, top}, {net.from, bottom});
                continue;
            }
            auto row = top + net.track;
            canvas.draw_line({net.from, top}, {net.from, row});
            canvas.draw_line({net.left(), row}, {net.right(), row});
            for (auto column : net.to) {
                canvas.draw_line({column, row}, {column, bottom});
            }
        }
        for (auto slot : lower) {
            if (layers_.slots[slot].node != none && !layers_.slots[slot].above.empty()) {
                canvas.write_arrow({middles_[slot], bottom});
            }
        }
    }

    std::vector<Box> boxes_;
    Layers layers_;
    std::vector<int> middles_;   ///< By slot: the column in which lines arrive,
    std::vector<int> leaves_at_; ///< and that in which they leave.
    int width_ = 0;
};

class TextWriter {
public:
    TextWriter(const Graph& graph, const TextOptions& options)
        : graph_(graph),
          options_(options),
          levels_(graph),
          lines_(graph, levels_, options.letters) {}

    /// Nothing when it is too wide.
    std::optional<Canvas> draw() {
        auto insides = std::map<std::uint32_t, Canvas>{};
        for (auto node = static_cast<std::uint32_t>(graph_.nodes.size()); node-- > 0;) {
            if (levels_.has_inner(node)) {
                auto inside = draw_level(levels_.of(node), insides);
                if (!inside) {
                    return std::nullopt;
                }
                insides.emplace(node, *std::move(inside));
            }
        }
        return draw_level(levels_.top, insides);
    }

private:
    std::optional<Canvas> draw_level(const Level& level,
                                     std::map<std::uint32_t, Canvas>& insides) const {
        auto boxes = std::vector<Box>{};
        for (auto node : level.nodes) {
            auto box = Box{.lines = lines_.of(node), .inside = std::nullopt};
            if (auto inside = insides.extract(node)) {
                box.inside = std::move(inside.mapped());
            }
            box.measure();
            boxes.push_back(std::move(box));
        }
        auto drawing = LevelDrawing{level, std::move(boxes)};
        if (static_cast<std::size_t>(drawing.width()) > options_.columns_max) {
            return std::nullopt;
        }
        return drawing.draw();
    }

    const Graph& graph_;
    const TextOptions& options_;
    internal::Levels levels_;
    internal::NodeLines lines_;
};

} // namespace

std::string to_text(const Graph& graph, const TextOptions& options) {
    auto title = shown(graph.title, 100, options.letters);
    title += title.empty() ? "" : "\n";
    if (graph.nodes.size() > options.nodes_max) {
        return fmt::format(
            "{}{}\nToo large to be drawn as text ({} nodes, at most {}): use "
            "--format svg, dot or mermaid.\n",
            title, to_list(graph, options.letters), graph.nodes.size(), options.nodes_max);
    }
    auto canvas = TextWriter{graph, options}.draw();
    if (!canvas) {
        return fmt::format(
            "{}{}\nToo wide to be drawn in {} columns: use --width, or --format "
            "svg, dot or mermaid.\n",
            title, to_list(graph, options.letters), options.columns_max);
    }
    return title + canvas->to_string(options.letters);
}

} // namespace sluice::graph
