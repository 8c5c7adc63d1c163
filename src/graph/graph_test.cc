#include "graph/graph.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/utf8.h"
#include "graph/internal/layers.h"
#include "graph/label.h"
#include "graph/writers.h"

namespace sluice::graph {

namespace {

Node node_named(const std::string& name, std::uint32_t parent = none) {
    auto node = Node{};
    node.id = name;
    node.name = name;
    node.parent = parent;
    return node;
}

/// A diamond with a long way around it, a body, an error, statuses and a way back.
Graph sample() {
    auto graph = Graph{.title = "sample", .nodes = {}, .edges = {}};
    for (const auto* name : {"list", "left", "right", "tiles"}) {
        graph.nodes.push_back(node_named(name));
    }
    graph.nodes.push_back(node_named("load", 3));
    graph.nodes.push_back(node_named("cut", 3));
    graph.nodes.push_back(node_named("report"));
    graph.nodes.push_back(node_named("mend"));
    graph.nodes[0].detail = "call echo";
    graph.nodes[0].status = "succeeded";
    graph.nodes[0].tone = Tone::Good;
    graph.nodes[3].detail = "for each of ${input.files}";
    graph.nodes[3].status = "1 failed, 2 running";
    graph.nodes[3].tone = Tone::Bad;
    graph.edges = {{0, 1, "size > 3", Line::Solid}, {0, 2, "otherwise", Line::Solid},
                   {1, 3, "", Line::Solid},         {2, 3, "", Line::Solid},
                   {4, 5, "", Line::Solid},         {3, 6, "", Line::Solid},
                   {0, 6, "", Line::Solid},         {3, 7, "error", Line::Dashed},
                   {6, 1, "again", Line::Solid}};
    return graph;
}

Graph hostile() {
    auto graph = Graph{.title = "\"><script>alert(1)</script>\n\\", .nodes = {}, .edges = {}};
    for (const auto* name : {"a\"b", "<b>&amp;</b>", "line\nbreak\\N",
                             "\xE2\x80\xAE"
                             "evil",
                             "x];n9[", "`md` #quot;", "\xFF\xFE", "]]>", "e\xCC\x81\xE5\xAD\x97"}) {
        graph.nodes.push_back(node_named(name));
    }
    graph.nodes.push_back(node_named(std::string(5'000, 'w')));
    for (auto at = std::uint32_t{1}; at < graph.nodes.size(); ++at) {
        graph.edges.push_back({at - 1, at, "\"|-->\n", Line::Solid});
    }
    return graph;
}

/// The file's text; with SLUICE_WRITE_GOLDEN set it is written first.
std::string golden(const std::string& name, const std::string& now) {
    auto path = std::string{GOLDEN_FOLDER} + "/" + name;
    if (std::getenv("SLUICE_WRITE_GOLDEN") != nullptr) { // NOLINT(concurrency-mt-unsafe)
        std::ofstream{path, std::ios::binary} << now;
    }
    auto file = std::ifstream{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

std::size_t count_of(std::string_view text, std::string_view part) {
    auto count = std::size_t{0};
    for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

/// Any graph, with cycles, loops and double edges, nodes in nodes.
Graph arbitrary_graph() {
    auto count = *rc::gen::inRange<std::uint32_t>(1, 25);
    auto graph = Graph{};
    for (auto at = std::uint32_t{0}; at < count; ++at) {
        auto in_other = at > 0 && *rc::gen::inRange(0, 4) == 0;
        graph.nodes.push_back(node_named(
            fmt::format("<{}>", at), in_other ? *rc::gen::inRange<std::uint32_t>(0, at) : none));
    }
    auto edges = *rc::gen::inRange(0, 60);
    for (auto at = 0; at < edges; ++at) {
        auto from = *rc::gen::inRange<std::uint32_t>(0, count);
        auto to = *rc::gen::inRange<std::uint32_t>(0, count);
        if (graph.nodes[from].parent == graph.nodes[to].parent) {
            graph.edges.push_back({from, to, "", Line::Solid});
        }
    }
    return graph;
}

struct Rect {
    int x = 0;
    int y = 0;
    int width = 0;
    int height = 0;

    bool holds(const Rect& other) const {
        return other.x >= x && other.y >= y && other.x + other.width <= x + width &&
               other.y + other.height <= y + height;
    }
    bool meets(const Rect& other) const {
        return x < other.x + other.width && other.x < x + width && y < other.y + other.height &&
               other.y < y + height;
    }
};

/// Of the nodes of a picture, in their order.
std::vector<Rect> rects_in(const std::string& svg) {
    auto rects = std::vector<Rect>{};
    for (auto at = svg.find("<rect "); at != std::string::npos; at = svg.find("<rect ", at + 1)) {
        auto rect = Rect{};
        auto read = std::sscanf(svg.c_str() + at, // NOLINT(cert-err34-c)
                                R"(<rect x="%d" y="%d" width="%d" height="%d")", &rect.x, &rect.y,
                                &rect.width, &rect.height);
        rects.push_back(read == 4 ? rect : Rect{});
    }
    return rects;
}

/// The lines that leave a box downwards lead to these boxes, by their names; lines that join them
/// are followed too.
std::set<std::string> reached_from(const std::vector<std::u32string>& rows, std::size_t row,
                                   std::size_t column) {
    auto glyph = [&](std::size_t at, std::size_t x) {
        return at < rows.size() && x < rows[at].size() ? rows[at][x] : U' ';
    };
    auto leads = [&](std::size_t at, std::size_t x, std::u32string_view letters) {
        return letters.contains(glyph(at, x));
    };
    auto seen = std::set<std::tuple<std::size_t, std::size_t, char>>{};
    auto todo = std::vector<std::tuple<std::size_t, std::size_t, char>>{{row + 1, column, 'd'}};
    auto names = std::set<std::string>{};
    while (!todo.empty()) {
        auto [at, x, way] = todo.back();
        todo.pop_back();
        if (!seen.emplace(at, x, way).second) {
            continue;
        }
        if (glyph(at, x) == U'▼') {
            auto left = x;
            while (glyph(at + 2, left) != U'│') {
                --left;
            }
            auto name = std::string{};
            for (left += 2; glyph(at + 2, left) != U' '; ++left) {
                name += static_cast<char>(glyph(at + 2, left));
            }
            names.insert(name);
            continue;
        }
        // A line that goes down is whole where another crosses it.
        auto is_crossed = way != 'd' && glyph(at, x) == U'│';
        if (way == 'd' || !is_crossed) {
            if (leads(at, x, U"│┐┌┬├┤┼")) {
                todo.emplace_back(at + 1, x, 'd');
            }
        }
        if ((way == 'l' && is_crossed) || (way != 'r' && leads(at, x, U"─┘┐┬┴┤┼"))) {
            todo.emplace_back(at, x - 1, 'l');
        }
        if ((way == 'r' && is_crossed) || (way != 'l' && leads(at, x, U"─└┌┬┴├┼"))) {
            todo.emplace_back(at, x + 1, 'r');
        }
    }
    return names;
}

std::vector<std::u32string> rows_of(std::string_view text) {
    auto rows = std::vector<std::u32string>{{}};
    while (!text.empty()) {
        auto point = decode_utf8(text);
        text.remove_prefix(point.size);
        if (point.code == U'\n') {
            rows.emplace_back();
        } else {
            rows.back() += static_cast<char32_t>(point.code);
        }
    }
    return rows;
}

} // namespace

TEST(Graph, IsDrawnAsBefore) {
    auto graph = sample();

    EXPECT_EQ(to_text(graph), golden("sample.txt", to_text(graph)));
    auto plain = to_text(graph, {.letters = Letters::Ascii});
    EXPECT_EQ(plain, golden("sample_ascii.txt", plain));
    EXPECT_EQ(to_list(graph), golden("sample_list.txt", to_list(graph)));
    EXPECT_EQ(to_svg(graph), golden("sample.svg", to_svg(graph)));
    EXPECT_EQ(to_dot(graph), golden("sample.dot", to_dot(graph)));
    EXPECT_EQ(to_mermaid(graph), golden("sample.mmd", to_mermaid(graph)));
}

TEST(Graph, EscapesWhatNamesContain) {
    auto graph = hostile();

    EXPECT_EQ(to_text(graph), golden("hostile.txt", to_text(graph)));
    auto plain = to_text(graph, {.letters = Letters::Ascii});
    EXPECT_TRUE(std::ranges::all_of(plain, [](char letter) { return letter > 0; }));
    EXPECT_EQ(to_svg(graph), golden("hostile.svg", to_svg(graph)));
    EXPECT_EQ(to_dot(graph), golden("hostile.dot", to_dot(graph)));
    EXPECT_EQ(to_mermaid(graph), golden("hostile.mmd", to_mermaid(graph)));
}

TEST(Graph, BecomesAListWhereItIsTooLarge) {
    auto graph = sample();

    EXPECT_TRUE(to_text(graph, {.columns_max = 20}).contains("level 1"));
    auto many = to_text(graph, {.nodes_max = 3});
    EXPECT_TRUE(many.contains("level 1"));
    EXPECT_TRUE(many.contains("8 nodes, at most 3"));
}

TEST(Graph, OfNothingIsNothing) {
    auto graph = Graph{};

    EXPECT_EQ(to_text(graph), "");
    EXPECT_TRUE(to_svg(graph).ends_with("</svg>\n"));
    EXPECT_EQ(to_mermaid(graph), "flowchart TD\n");
}

TEST(Label, IsCutToCells) {
    EXPECT_EQ(shown("abcdef", 6), "abcdef");
    EXPECT_EQ(shown("abcdefg", 6), "abcde…");
    EXPECT_EQ(shown("abcdefg", 6, Letters::Ascii), "abc...");
    EXPECT_EQ(shown("字字字字", 6), "字字…");
    EXPECT_EQ(cells_of(std::string_view{"e\xCC\x81字"}), 3U);
    EXPECT_EQ(shown("\xE2\x80\xAE", 20), "\\u{202E}");
}

RC_GTEST_PROP(Layers, LeadDownwards, ()) {
    auto graph = arbitrary_graph();
    auto links = std::vector<internal::Link>{};
    for (const auto& edge : graph.edges) {
        links.push_back({edge.from, edge.to});
    }
    auto layers = internal::arrange(graph.nodes.size(), links);

    auto back = std::set<std::uint32_t>{layers.back.begin(), layers.back.end()};
    for (auto at = std::uint32_t{0}; at < links.size(); ++at) {
        if (!back.contains(at)) {
            RC_ASSERT(layers.slots[links[at].from].rank < layers.slots[links[at].to].rank);
        }
    }
    auto seen = std::set<std::uint32_t>{};
    for (const auto& rank : layers.ranks) {
        seen.insert(rank.begin(), rank.end());
    }
    RC_ASSERT(seen.size() == layers.slots.size());
    for (const auto& slot : layers.slots) {
        for (auto below : slot.below) {
            RC_ASSERT(layers.slots[below].rank == slot.rank + 1);
        }
    }
}

RC_GTEST_PROP(Layers, DoNotOverlap, ()) {
    auto graph = arbitrary_graph();
    auto links = std::vector<internal::Link>{};
    for (const auto& edge : graph.edges) {
        links.push_back({edge.from, edge.to});
    }
    auto layers = internal::arrange(graph.nodes.size(), links);
    auto widths = std::vector<int>{};
    for (auto at = std::size_t{0}; at < layers.slots.size(); ++at) {
        widths.push_back(*rc::gen::inRange(1, 12));
    }

    auto middles = internal::place(layers, widths, 2);

    for (const auto& rank : layers.ranks) {
        auto end = -2;
        for (auto slot : rank) {
            auto left = middles[slot] - (widths[slot] / 2);
            RC_ASSERT(left >= end + 2);
            end = left + widths[slot];
        }
    }
}

RC_GTEST_PROP(Graph, HasBoxesInBoxesAndNoneOnAnother, ()) {
    auto graph = arbitrary_graph();

    auto rects = rects_in(to_svg(graph));

    RC_ASSERT(rects.size() == graph.nodes.size());
    for (auto at = std::size_t{0}; at < rects.size(); ++at) {
        auto parent = graph.nodes[at].parent;
        RC_ASSERT(rects[at].width > 0);
        if (parent != none) {
            RC_ASSERT(rects[parent].holds(rects[at]));
        }
        for (auto other = std::size_t{0}; other < at; ++other) {
            if (graph.nodes[other].parent == parent) {
                RC_ASSERT_FALSE(rects[other].meets(rects[at]));
            }
        }
    }
}

RC_GTEST_PROP(Graph, HasALineForEveryEdgeAsText, ()) {
    auto graph = arbitrary_graph();
    std::erase_if(graph.edges, [](const Edge& edge) { return edge.from >= edge.to; });
    for (auto& node : graph.nodes) {
        node.parent = none;
    }

    auto text = to_text(graph, {.columns_max = 10'000});
    auto rows = rows_of(text);

    for (const auto& edge : graph.edges) {
        auto name = U"│ <";
        auto wanted = std::u32string{name};
        for (auto letter : fmt::format("{}> ", edge.from)) {
            wanted += static_cast<char32_t>(letter);
        }
        auto row = std::size_t{0};
        while (rows[row].find(wanted) == std::u32string::npos) {
            ++row;
        }
        auto column = rows[row].find(wanted) + 1;
        while (rows[row][column] != U'│') {
            ++column;
            if (rows[row + 1][column] == U'┬') {
                break;
            }
        }
        RC_ASSERT(rows[row + 1][column] == U'┬');
        RC_ASSERT(reached_from(rows, row + 1, column).contains(fmt::format("<{}>", edge.to)));
    }
}

RC_GTEST_PROP(Graph, HasEveryNodeAndEdgeOnce, ()) {
    auto graph = arbitrary_graph();
    for (auto at = std::size_t{0}; at < graph.edges.size(); ++at) {
        graph.edges[at].label = fmt::format("[{}]", at);
    }

    auto text = to_text(graph, {.columns_max = 10'000});
    auto list = to_list(graph);
    auto svg = to_svg(graph);
    auto dot = to_dot(graph);
    auto mermaid = to_mermaid(graph);

    for (auto at = std::size_t{0}; at < graph.nodes.size(); ++at) {
        RC_ASSERT(count_of(text, fmt::format("│ <{}> ", at)) == 1U);
        RC_ASSERT(count_of(list, fmt::format("  <{}>", at)) == 1U);
        RC_ASSERT(count_of(svg, fmt::format(">&lt;{}&gt;</text>", at)) == 1U);
        RC_ASSERT(count_of(dot, fmt::format("label=\"<{}>\"", at)) == 1U);
        RC_ASSERT(count_of(mermaid, fmt::format("[\"#60;{}#62;\"]", at)) == 1U);
    }
    for (auto at = std::size_t{0}; at < graph.edges.size(); ++at) {
        RC_ASSERT(count_of(text, fmt::format(": [{}])", at)) == 1U);
        RC_ASSERT(count_of(svg, fmt::format(">[{}]</text>", at)) == 1U);
        RC_ASSERT(count_of(dot, fmt::format("label=\"[{}]\"", at)) == 1U);
        RC_ASSERT(count_of(mermaid, fmt::format("|\"#91;{}#93;\"|", at)) == 1U);
    }
    RC_ASSERT(count_of(svg, "class=\"e") == graph.edges.size());
}

} // namespace sluice::graph
