#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::graph {

inline constexpr auto none = UINT32_MAX;

/// How the status of a node looks, the one that most needs a look last; what it says is the
/// language's own.
enum class Tone : std::uint8_t { Plain, Off, Good, Busy, Waiting, Bad };

/// A task, a state, a trigger. Texts are as their authors wrote them: writers escape them.
struct Node {
    std::string id; ///< As the run knows it.
    std::string name;
    std::string detail; ///< What it does, on one line.
    std::string status; ///< Empty: of a definition, which has none.
    Tone tone = Tone::Plain;
    std::uint32_t parent = none; ///< The node it is drawn in, which stands before it.
};

enum class Line : std::uint8_t { Solid, Dashed };

/// One node comes after another. Both are drawn in the same node, or in none.
struct Edge {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::string label;
    Line line = Line::Solid;
};

/// A definition or a run as a picture of it shows it, whatever its language.
struct Graph {
    std::string title;
    std::vector<Node> nodes;
    std::vector<Edge> edges;
};

} // namespace sluice::graph
