#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/label.h"

namespace sluice::graph::internal {

struct Point {
    int x = 0;
    int y = 0;
};

/// Cells of a terminal on which lines are drawn that know where they meet and where they cross.
class Canvas {
public:
    Canvas(int width, int height);

    int width() const { return width_; }
    int height() const { return height_; }

    /// From one point to another in the same column or row. What belongs to the same line joins it;
    /// others cross it, unless one of them ends there.
    void draw_line(Point from, Point to);
    void draw_box(Point corner, int width, int height);
    /// Text must be `shown`.
    void write(Point at, std::string_view text);
    void write_arrow(Point at) { cell(at).text = arrow; }
    /// Everything of another, with its corner here.
    void put(Point corner, const Canvas& other);

    std::string to_string(Letters letters) const;

private:
    static constexpr auto arrow = "\x01";

    struct Cell {
        std::string text;        ///< Goes over lines.
        std::uint8_t ends = 0;   ///< Directions in which a line leaves it.
        std::uint8_t cross = 0;  ///< Of one that only passes.
        bool is_covered = false; ///< By a wide character before it.
    };

    Cell& cell(Point at) { return cells_[index(at)]; }
    std::size_t index(Point at) const {
        return (static_cast<std::size_t>(at.y) * static_cast<std::size_t>(width_)) +
               static_cast<std::size_t>(at.x);
    }
    void add(Point at, std::uint8_t ends);
    static std::string_view glyph(const Cell& cell, Letters letters);

    int width_;
    int height_;
    std::vector<Cell> cells_;
};

} // namespace sluice::graph::internal
