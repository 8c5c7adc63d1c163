#include "graph/internal/canvas.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace sluice::graph::internal {

namespace {

constexpr auto up = std::uint8_t{1};
constexpr auto down = std::uint8_t{2};
constexpr auto left = std::uint8_t{4};
constexpr auto right = std::uint8_t{8};
constexpr auto vertical = static_cast<std::uint8_t>(up | down);
constexpr auto horizontal = static_cast<std::uint8_t>(left | right);

// By the directions in which lines leave a cell.
constexpr std::string_view unicode[] = {" ", "│", "│", "│", "─", "┘", "┐", "┤",
                                        "─", "└", "┌", "├", "─", "┴", "┬", "┼"};
constexpr std::string_view ascii[] = {" ", "|", "|", "|", "-", "+", "+", "+",
                                      "-", "+", "+", "+", "-", "+", "+", "+"};

} // namespace

Canvas::Canvas(int width, int height)
    : width_(width),
      height_(height),
      cells_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height)) {}

/// A line that goes straight through another's straight part crosses it, until one of them turns
/// out to end there: then they join.
void Canvas::add(Point at, std::uint8_t ends) {
    auto& here = cell(at);
    auto is_straight = ends == vertical || ends == horizontal;
    if (is_straight && here.ends == (vertical | horizontal) - ends) {
        here.cross |= ends;
        return;
    }
    here.ends |= ends;
    if (!is_straight && ends != 0) {
        here.ends |= std::exchange(here.cross, std::uint8_t{0});
    }
}

void Canvas::draw_line(Point from, Point to) {
    if (from.x == to.x) {
        for (auto y = std::min(from.y, to.y); y <= std::max(from.y, to.y); ++y) {
            auto ends =
                (y > std::min(from.y, to.y) ? up : 0) | (y < std::max(from.y, to.y) ? down : 0);
            add({from.x, y}, static_cast<std::uint8_t>(ends));
        }
        return;
    }
    for (auto x = std::min(from.x, to.x); x <= std::max(from.x, to.x); ++x) {
        auto ends =
            (x > std::min(from.x, to.x) ? left : 0) | (x < std::max(from.x, to.x) ? right : 0);
        add({x, from.y}, static_cast<std::uint8_t>(ends));
    }
}

void Canvas::draw_box(Point corner, int width, int height) {
    auto far = Point{corner.x + width - 1, corner.y + height - 1};
    draw_line(corner, {far.x, corner.y});
    draw_line({far.x, corner.y}, far);
    draw_line({corner.x, far.y}, far);
    draw_line(corner, {corner.x, far.y});
}

void Canvas::write(Point at, std::string_view text) {
    while (!text.empty() && at.x < width_) {
        auto point = decode_utf8(text);
        auto size = std::max<std::size_t>(point.size, 1);
        auto cells = static_cast<int>(cells_of(point.code));
        if (cells == 0 && at.x > 0) {
            cell({at.x - 1, at.y}).text += text.substr(0, size);
        } else {
            cell(at).text = text.substr(0, size);
        }
        if (cells == 2 && at.x + 1 < width_) {
            cell({at.x + 1, at.y}).is_covered = true;
        }
        at.x += cells;
        text.remove_prefix(size);
    }
}

void Canvas::put(Point corner, const Canvas& other) {
    for (auto y = 0; y < other.height_; ++y) {
        for (auto x = 0; x < other.width_; ++x) {
            cell({corner.x + x, corner.y + y}) = other.cells_[other.index({x, y})];
        }
    }
}

std::string_view Canvas::glyph(const Cell& cell, Letters letters) {
    if (cell.text == arrow) {
        return letters == Letters::Ascii ? "v" : "▼";
    }
    if (!cell.text.empty()) {
        return cell.text;
    }
    // Of two lines that cross, the one that goes down is whole.
    auto ends = cell.cross != 0 ? vertical : cell.ends;
    return letters == Letters::Ascii ? ascii[ends] : unicode[ends];
}

std::string Canvas::to_string(Letters letters) const {
    auto out = std::string{};
    for (auto y = 0; y < height_; ++y) {
        auto begin = out.size();
        auto end = begin; // Behind the last that is no space.
        for (auto x = 0; x < width_; ++x) {
            const auto& here = cells_[index({x, y})];
            if (here.is_covered) {
                continue;
            }
            auto text = glyph(here, letters);
            out += text;
            end = text == " " ? end : out.size();
        }
        out.resize(std::max(begin, end));
        out += '\n';
    }
    return out;
}

} // namespace sluice::graph::internal
