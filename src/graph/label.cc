#include "graph/label.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/utf8.h"

namespace sluice::graph {

namespace {

struct Range {
    std::uint32_t first;
    std::uint32_t last;
};

// Marks that are put on the letter before.
constexpr Range without_width[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},  {0x0610, 0x061A}, {0x064B, 0x065F},
    {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF},  {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF},
    {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0x1F3FB, 0x1F3FF}};
constexpr Range of_double_width[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},
                                     {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
                                     {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
                                     {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
constexpr Range unseen[] = {
    {0x0000, 0x001F}, {0x007F, 0x009F}, {0x00AD, 0x00AD},   {0x061C, 0x061C},   {0x115F, 0x1160},
    {0x180E, 0x180E}, {0x200B, 0x200F}, {0x2028, 0x202E},   {0x2060, 0x206F},   {0xFEFF, 0xFEFF},
    {0xFFF0, 0xFFFB}, {0xFFFE, 0xFFFF}, {0xE0000, 0xE0FFF}, {0xF0000, 0x10FFFF}};

bool is_in(std::span<const Range> ranges, std::uint32_t code) {
    return std::ranges::any_of(
        ranges, [&](const Range& range) { return code >= range.first && code <= range.last; });
}

std::string shown_letter(std::uint32_t code, Letters letters) {
    auto letter = std::string{};
    if (code == '\n' || code == '\t' || code == '\r') {
        letter = " ";
    } else if (is_in(unseen, code) || (letters == Letters::Ascii && code >= 0x7F)) {
        letter = fmt::format("\\u{{{:X}}}", code);
    } else {
        append_utf8(code, letter);
    }
    return letter;
}

} // namespace

std::size_t cells_of(std::uint32_t code) {
    if (code < 0x0300) {
        return 1;
    }
    return is_in(without_width, code) ? 0 : is_in(of_double_width, code) ? 2 : 1;
}

std::size_t cells_of(std::string_view text) {
    auto cells = std::size_t{0};
    while (!text.empty()) {
        auto point = decode_utf8(text);
        cells += cells_of(point.code);
        text.remove_prefix(std::max<std::size_t>(point.size, 1));
    }
    return cells;
}

std::string shown(std::string_view text, std::size_t cells_max, Letters letters) {
    auto valid = replace_invalid_utf8(text.substr(0, cells_max * 8));
    auto ellipsis = letters == Letters::Ascii ? std::string_view{"..."} : std::string_view{"…"};
    auto room = cells_max - std::min(cells_max, cells_of(ellipsis));
    auto out = std::string{};
    auto cells = std::size_t{0};
    auto cut = std::size_t{0}; // Where the text ends if it turns out too long.
    for (auto rest = std::string_view{valid}; !rest.empty();) {
        auto point = decode_utf8(rest);
        rest.remove_prefix(point.size);
        auto letter = shown_letter(point.code, letters);
        cells += cells_of(std::string_view{letter});
        if (cells > cells_max) {
            out.resize(cut);
            return out.append(ellipsis);
        }
        out += letter;
        cut = cells <= room ? out.size() : cut;
    }
    return out;
}

} // namespace sluice::graph
