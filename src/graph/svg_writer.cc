#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "graph/internal/layers.h"
#include "graph/internal/levels.h"
#include "graph/writers.h"

namespace sluice::graph {

namespace {

using internal::Layers;
using internal::Level;

constexpr auto svg_cells_max = std::size_t{40};
constexpr auto line_height = 16;
constexpr auto letter_width_tenths = 74; // Of the font below, generously.
constexpr auto padding = 10;
constexpr auto slot_gap = 24;
constexpr auto rank_gap = 44;
constexpr auto margin = 16;

constexpr auto style = R"(
svg{color:#1f2328;font:12px ui-monospace,Menlo,Consolas,monospace}
@media (prefers-color-scheme:dark){svg{color:#e6edf3}}
text{fill:currentColor;white-space:pre;unicode-bidi:isolate}
.n rect{fill:#808080;fill-opacity:.1;stroke:#808080}
.d{opacity:.75}
.e{fill:none;stroke:#808080;stroke-width:1.3}
.x{stroke-dasharray:5 4}
.l{font-size:11px;opacity:.75}
.good rect{fill:#2e9e4f;stroke:#2e9e4f}
.bad rect{fill:#d1383d;stroke:#d1383d}
.busy rect{fill:#2f7ed8;stroke:#2f7ed8}
.waiting rect{fill:#c98a12;stroke:#c98a12}
.off rect{stroke-dasharray:3 3}
)";

std::string escaped(std::string_view text, std::size_t cells_max) {
    auto out = std::string{};
    for (auto letter : shown(text, cells_max)) {
        switch (letter) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            default: out += letter;
        }
    }
    return out;
}

std::string_view svg_class_of(Tone tone) {
    switch (tone) {
        case Tone::Plain: return "";
        case Tone::Good: return " good";
        case Tone::Bad: return " bad";
        case Tone::Busy: return " busy";
        case Tone::Waiting: return " waiting";
        case Tone::Off: return " off";
    }
    return "";
}

struct Place {
    int x = 0;
    int y = 0;
    int width = 0;
    int height = 0;

    int middle() const { return x + (width / 2); }
    int bottom() const { return y + height; }
    int right() const { return x + width; }
};

/// The layers of a level with their places in it.
struct Drawn {
    Layers layers;
    std::vector<int> middles;
    std::vector<int> tops; ///< Of ranks,
    std::vector<int> bottoms;
    int width = 0;
    int height = 0;
};

class SvgWriter {
public:
    explicit SvgWriter(const Graph& graph)
        : graph_(graph), levels_(graph), places_(graph.nodes.size()), inner_(graph.nodes.size()) {}

    std::string write() {
        for (auto node = static_cast<std::uint32_t>(graph_.nodes.size()); node-- > 0;) {
            measure(node);
        }
        auto top = lay_out(levels_.top);
        begin(top);
        put(levels_.top, top, margin, margin);
        for (auto node = std::uint32_t{0}; node < graph_.nodes.size(); ++node) {
            if (levels_.has_inner(node)) {
                put(levels_.of(node), inner_[node], places_[node].x + padding,
                    places_[node].y + text_height(node));
            }
        }
        for (auto node = std::uint32_t{0}; node < graph_.nodes.size(); ++node) {
            write_node(node);
        }
        write_edges(levels_.top, top, margin, margin);
        for (auto node = std::uint32_t{0}; node < graph_.nodes.size(); ++node) {
            if (levels_.has_inner(node)) {
                write_edges(levels_.of(node), inner_[node], places_[node].x + padding,
                            places_[node].y + text_height(node));
            }
        }
        return out_ + "</svg>\n";
    }

private:
    std::back_insert_iterator<std::string> to() { return std::back_inserter(out_); }

    static int text_width(std::string_view text) {
        auto cells = std::min(cells_of(shown(text, svg_cells_max)), svg_cells_max);
        return (static_cast<int>(cells) * letter_width_tenths / 10) + (2 * padding);
    }
    int text_height(std::uint32_t at) const {
        const auto& node = graph_.nodes[at];
        auto lines = 1 + (node.detail.empty() ? 0 : 1) + (node.status.empty() ? 0 : 1);
        return (lines * line_height) + padding;
    }

    /// What is in it has been measured: it stands behind.
    void measure(std::uint32_t at) {
        const auto& node = graph_.nodes[at];
        auto& place = places_[at];
        place.width =
            std::max({text_width(node.name), text_width(node.detail), text_width(node.status), 60});
        place.height = text_height(at);
        if (levels_.has_inner(at)) {
            inner_[at] = lay_out(levels_.of(at));
            place.width = std::max(place.width, inner_[at].width + (2 * padding));
            place.height += inner_[at].height + padding;
        }
    }

    Drawn lay_out(const Level& level) const {
        auto drawn = Drawn{};
        drawn.layers = internal::arrange(level.nodes.size(), level.links);
        auto widths = std::vector<int>{};
        for (const auto& slot : drawn.layers.slots) {
            widths.push_back(slot.node == none ? 1 : places_[level.nodes[slot.node]].width);
        }
        drawn.middles = internal::place(drawn.layers, widths, slot_gap);
        for (auto slot = std::size_t{0}; slot < widths.size(); ++slot) {
            drawn.width =
                std::max(drawn.width, drawn.middles[slot] - (widths[slot] / 2) + widths[slot]);
        }
        for (const auto& rank : drawn.layers.ranks) {
            auto height = 0;
            for (auto slot : rank) {
                auto node = drawn.layers.slots[slot].node;
                height = std::max(height, node == none ? 0 : places_[level.nodes[node]].height);
            }
            drawn.tops.push_back(drawn.height);
            drawn.bottoms.push_back(drawn.height + height);
            drawn.height += height + rank_gap;
        }
        drawn.height = std::max(0, drawn.height - rank_gap);
        return drawn;
    }

    void put(const Level& level, const Drawn& drawn, int x, int y) {
        for (auto at = std::size_t{0}; at < level.nodes.size(); ++at) {
            auto& place = places_[level.nodes[at]];
            place.x = x + drawn.middles[at] - (place.width / 2);
            place.y = y + drawn.tops[drawn.layers.slots[at].rank];
        }
    }

    void begin(const Drawn& top) {
        auto width = top.width + (2 * margin);
        auto height = top.height + (2 * margin);
        fmt::format_to(
            to(),
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" "
            "width=\"{0}\" height=\"{1}\" role=\"img\" aria-labelledby=\"t d\">\n"
            "<title id=\"t\">{2}</title>\n<desc id=\"d\">{3} nodes, {4} edges, drawn from "
            "first to last.</desc>\n<style>{5}</style>\n",
            width, height, escaped(graph_.title, 200), graph_.nodes.size(), graph_.edges.size(),
            style);
        out_ +=
            "<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" "
            "markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#808080\"/>"
            "</marker></defs>\n";
    }

    void write_node(std::uint32_t at) {
        const auto& node = graph_.nodes[at];
        const auto& place = places_[at];
        fmt::format_to(to(),
                       "<g class=\"n{}\"><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" "
                       "height=\"{}\" rx=\"6\"/>",
                       svg_class_of(node.tone), escaped(node.name, 400), place.x, place.y,
                       place.width, place.height);
        auto y = place.y + line_height + 1;
        auto line = [&](std::string_view text, std::string_view kind) {
            if (!text.empty()) {
                fmt::format_to(to(), "<text{} x=\"{}\" y=\"{}\">{}</text>", kind, place.x + padding,
                               y, escaped(text, svg_cells_max));
                y += line_height;
            }
        };
        line(node.name, " font-weight=\"bold\"");
        line(node.detail, " class=\"d\"");
        line(node.status, "");
        out_ += "</g>\n";
    }

    void write_edges(const Level& level, const Drawn& drawn, int x, int y) {
        auto is_back = std::vector<bool>(level.links.size());
        auto is_far = is_back;
        for (auto link : drawn.layers.back) {
            is_back[link] = true;
        }
        for (auto link : drawn.layers.far) {
            is_far[link] = true;
        }
        auto lines = lines_of(drawn.layers, level.nodes.size());
        for (auto at = std::size_t{0}; at < level.links.size(); ++at) {
            const auto& edge = graph_.edges[level.edges[at]];
            auto path = is_back[at]
                            ? back_path(places_[edge.from], places_[edge.to])
                            : down_path(drawn, lines[level.links[at].from], level.links[at],
                                        is_far[at], places_[edge.from], places_[edge.to], x, y);
            fmt::format_to(to(), "<path class=\"e{}\" marker-end=\"url(#a)\" d=\"{}\"/>\n",
                           edge.line == Line::Dashed ? " x" : "", path);
            if (!edge.label.empty()) {
                const auto& target = places_[edge.to];
                fmt::format_to(to(), "<text class=\"l\" x=\"{}\" y=\"{}\">{}</text>\n",
                               target.middle() + 8, target.y - 8,
                               escaped(edge.label, svg_cells_max));
            }
        }
    }

    /// The slots through which the edges of each node pass, from above.
    static std::vector<std::vector<std::uint32_t>> lines_of(const Layers& layers,
                                                            std::size_t nodes) {
        auto lines = std::vector<std::vector<std::uint32_t>>(nodes);
        for (auto slot = static_cast<std::uint32_t>(nodes); slot < layers.slots.size(); ++slot) {
            lines[layers.slots[slot].source].push_back(slot);
        }
        return lines;
    }

    static std::string down_path(const Drawn& drawn, const std::vector<std::uint32_t>& lines,
                                 const internal::Link& link, bool is_far, const Place& from,
                                 const Place& target, int x, int y) {
        auto path = fmt::format("M{} {}", from.middle(), from.bottom());
        auto last_x = from.middle();
        auto last_y = from.bottom();
        auto curve_to = [&](int next_x, int next_y) {
            auto half = (last_y + next_y) / 2;
            path += next_x == last_x ? fmt::format("V{}", next_y)
                                     : fmt::format("C{} {} {} {} {} {}", last_x, half, next_x, half,
                                                   next_x, next_y);
            last_x = next_x;
            last_y = next_y;
        };
        auto end = drawn.layers.slots[link.to].rank;
        for (auto slot : lines) {
            auto rank = drawn.layers.slots[slot].rank;
            if (is_far || rank >= end) {
                break;
            }
            curve_to(x + drawn.middles[slot], y + drawn.tops[rank]);
            curve_to(last_x, y + drawn.bottoms[rank]);
        }
        curve_to(target.middle(), target.y);
        return path;
    }

    /// Around the right of both; for one that leads to itself, a loop there.
    static std::string back_path(const Place& from, const Place& target) {
        auto out = std::max(from.right(), target.right()) + 20;
        auto from_y = from.y + (from.height * 2 / 3);
        auto target_y = target.y + (target.height / 3);
        return fmt::format("M{} {}C{} {} {} {} {} {}", from.right(), from_y, out, from_y, out,
                           target_y, target.right(), target_y);
    }

    const Graph& graph_;
    internal::Levels levels_;
    std::vector<Place> places_;
    std::vector<Drawn> inner_;
    std::string out_;
};

} // namespace

std::string to_svg(const Graph& graph) {
    return SvgWriter{graph}.write();
}

} // namespace sluice::graph
