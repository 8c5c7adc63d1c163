#include "expr/cel/runtime/excerpt.h"

#include <algorithm>

#include "base/utf8.h"

namespace sluice::expr::cel::runtime {

std::string_view excerpt(std::string_view text) {
    constexpr auto excerpt_bytes_max = std::size_t{80};
    auto start = text.substr(0, excerpt_bytes_max);
    return start.substr(0, valid_utf8_prefix(start));
}

std::size_t count_code_points(std::string_view text) {
    auto is_lead = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80; };
    return static_cast<std::size_t>(std::ranges::count_if(text, is_lead));
}

} // namespace sluice::expr::cel::runtime
