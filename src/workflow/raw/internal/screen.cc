#include "workflow/raw/internal/screen.h"

#include <algorithm>

#include <fmt/format.h>
#include <simdjson.h>

#include "workflow/raw/internal/limits.h"

namespace sluice::workflow::raw::internal {

namespace {

bool is_control(char letter) {
    auto code = static_cast<unsigned char>(letter);
    return (code < 0x20 && letter != '\t' && letter != '\n' && letter != '\r') || code == 0x7F;
}

bool is_utf8(std::string_view text) {
    return simdjson::validate_utf8(text.data(), text.size());
}

Fault find_bad_line(std::string_view text) {
    auto line = 1;
    while (true) {
        auto end = text.find('\n');
        if (end == std::string_view::npos || !is_utf8(text.substr(0, end))) {
            return {.place = {.line = line, .column = 1},
                    .message = "found bytes that are not UTF-8 in this line"};
        }
        text.remove_prefix(end + 1);
        ++line;
    }
}

} // namespace

Place place_at(std::string_view text, std::size_t byte) {
    auto before = text.substr(0, byte);
    auto line_start = before.rfind('\n') + 1; // npos + 1 is 0: the first line.
    return {.line = static_cast<int>(std::ranges::count(before, '\n')) + 1,
            .column = static_cast<int>(before.size() - line_start) + 1};
}

std::optional<Fault> screen_text(std::string_view text) {
    if (text.size() > text_bytes_max) {
        return Fault{.place = {},
                     .message = fmt::format("found {} bytes, expected at most {}", text.size(),
                                            text_bytes_max)};
    }
    if (auto control = std::ranges::find_if(text, is_control); control != text.end()) {
        auto byte = static_cast<std::size_t>(control - text.begin());
        return Fault{.place = place_at(text, byte),
                     .message = fmt::format("found the control character U+{:04X}, expected text "
                                            "in UTF-8",
                                            static_cast<unsigned char>(*control))};
    }
    return is_utf8(text) ? std::nullopt : std::optional{find_bad_line(text)};
}

std::optional<Fault> screen_brackets(std::string_view text) {
    auto open = std::size_t{0};
    auto items = std::size_t{0};
    for (auto at = std::size_t{0}; at < text.size(); ++at) {
        auto letter = text[at];
        if (letter == '[' || letter == '{') {
            ++open;
        } else if ((letter == ']' || letter == '}') && open > 0) {
            --open;
        }
        items += open > 0 && (letter == ',' || letter == '[' || letter == '{') ? 1 : 0;
        if (open > open_brackets_max || items > bracketed_items_max) {
            return Fault{.place = place_at(text, at),
                         .message = fmt::format("found more than {} brackets open or {} items in "
                                                "brackets",
                                                open_brackets_max, bracketed_items_max)};
        }
    }
    return std::nullopt;
}

} // namespace sluice::workflow::raw::internal
