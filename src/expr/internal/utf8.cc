#include "expr/internal/utf8.h"

#include <algorithm>
#include <array>

namespace sluice::expr::internal {
namespace {

std::size_t sequence_length(unsigned char lead) {
    if (lead < 0x80) {
        return 1;
    }
    if (lead < 0xc2 || lead > 0xf4) {
        return 0;
    }
    return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

bool is_sequence(std::string_view bytes) {
    auto point = static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[0]));
    point &= 0xffU >> (bytes.size() + 1);
    for (auto byte : bytes.substr(1)) {
        auto continuation = static_cast<unsigned char>(byte);
        if ((continuation & 0xc0U) != 0x80) {
            return false;
        }
        point = point << 6U | (continuation & 0x3fU);
    }
    constexpr auto smallest = std::array<std::uint32_t, 5>{0, 0, 0x80, 0x800, 0x10000};
    return is_character(point) && point >= smallest[bytes.size()];
}

} // namespace

std::size_t valid_utf8_prefix(std::string_view text) {
    auto at = std::size_t{0};
    while (at < text.size()) {
        auto length = sequence_length(static_cast<unsigned char>(text[at]));
        if (length == 0 || at + length > text.size()) {
            return at;
        }
        if (length > 1 && !is_sequence(text.substr(at, length))) {
            return at;
        }
        at += length;
    }
    return at;
}

std::string_view excerpt(std::string_view text) {
    constexpr auto excerpt_bytes_max = std::size_t{80};
    auto start = text.substr(0, excerpt_bytes_max);
    return start.substr(0, valid_utf8_prefix(start));
}

std::size_t count_code_points(std::string_view text) {
    auto is_lead = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80; };
    return static_cast<std::size_t>(std::ranges::count_if(text, is_lead));
}

bool is_character(std::uint32_t code_point) {
    return code_point <= 0x10ffff && (code_point < 0xd800 || code_point > 0xdfff);
}

void append_utf8(std::uint32_t code_point, std::string& out) {
    auto continuation = [&](unsigned shift) {
        out += static_cast<char>(0x80U | (code_point >> shift & 0x3fU));
    };
    if (code_point < 0x80) {
        out += static_cast<char>(code_point);
        return;
    }
    if (code_point < 0x800) {
        out += static_cast<char>(0xc0U | code_point >> 6U);
    } else if (code_point < 0x10000) {
        out += static_cast<char>(0xe0U | code_point >> 12U);
        continuation(6);
    } else {
        out += static_cast<char>(0xf0U | code_point >> 18U);
        continuation(12);
        continuation(6);
    }
    continuation(0);
}

} // namespace sluice::expr::internal
