#include "expr/jsonata/internal/text.h"

#include <algorithm>

#include "base/utf8.h"

namespace sluice::expr::jsonata::internal {
namespace {

bool is_continuation(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Those from U+E000 to U+FFFF come behind the surrogates of those above.
std::uint32_t unit_rank(std::uint32_t code) {
    if (code >= 0x10000) {
        return code - 0x10000 + 0xE000;
    }
    return code >= 0xE000 ? code + 0x200000 : code;
}

bool is_surrogate(std::string_view text, std::size_t at) {
    return at + 2 < text.size() && text[at] == '\xED' && static_cast<unsigned char>(text[at + 1]) >= 0xA0;
}

} // namespace

Character character_at(std::string_view text, std::size_t at) {
    auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
        return {byte, 1};
    }
    if (is_surrogate(text, at)) {
        return {0xD000U | (static_cast<unsigned char>(text[at + 1]) & 0x3FU) << 6U |
                    (static_cast<unsigned char>(text[at + 2]) & 0x3FU),
                3};
    }
    auto decoded = decode_utf8(text.substr(at));
    return decoded.size == 0 ? Character{byte, 1} : Character{decoded.code, decoded.size};
}

std::size_t size_before(std::string_view text, std::size_t at) {
    auto begin = at - 1;
    while (begin > 0 && at - begin < 4 && is_continuation(text[begin])) {
        --begin;
    }
    return begin + character_at(text, begin).size == at ? at - begin : 1;
}

void append_code(std::uint32_t code, std::string& out) {
    if (code < 0xD800 || code >= 0xE000) {
        append_utf8(code, out);
        return;
    }
    out += static_cast<char>(0xE0U | code >> 12U);
    out += static_cast<char>(0x80U | (code >> 6U & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
}

std::size_t count_characters(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char byte) { return !is_continuation(byte); }));
}

std::size_t byte_of_character(std::string_view text, std::size_t character) {
    auto at = std::size_t{0};
    for (; character > 0 && at < text.size(); --character) {
        for (++at; at < text.size() && is_continuation(text[at]); ++at) {
        }
    }
    return at;
}

std::size_t count_units(std::string_view text) {
    auto count = std::size_t{0};
    for (auto byte : text) {
        count += is_continuation(byte) ? 0 : 1;
        count += static_cast<unsigned char>(byte) >= 0xF0 ? 1 : 0;
    }
    return count;
}

std::size_t byte_of_unit(std::string_view text, std::size_t unit) {
    auto at = std::size_t{0};
    auto units = std::size_t{0};
    while (units < unit && at < text.size()) {
        auto character = character_at(text, at);
        units += character.code > 0xFFFF ? 2 : 1;
        at += character.size;
    }
    return at;
}

int compare_units(std::string_view left, std::string_view right) {
    auto [first, second] = std::mismatch(left.begin(), left.end(), right.begin(), right.end());
    if (first == left.end() || second == right.end()) {
        return static_cast<int>(second == right.end()) - static_cast<int>(first == left.end());
    }
    auto at = static_cast<std::size_t>(first - left.begin());
    while (at > 0 && is_continuation(left[at])) {
        --at;
    }
    auto one = unit_rank(character_at(left, at).code);
    auto other = unit_rank(character_at(right, at).code);
    return one < other ? -1 : static_cast<int>(one > other);
}

bool has_surrogates(std::string_view text) {
    for (auto at = text.find('\xED'); at != text.npos; at = text.find('\xED', at + 1)) {
        if (is_surrogate(text, at)) {
            return true;
        }
    }
    return false;
}

std::string without_surrogates(std::string_view text) {
    auto out = std::string{};
    for (auto at = std::size_t{0}; at < text.size();) {
        auto [code, size] = character_at(text, at);
        auto is_kept = code < 0xD800 || code >= 0xE000;
        out += is_kept ? text.substr(at, size) : std::string_view{"\xEF\xBF\xBD"};
        at += size;
    }
    return out;
}

} // namespace sluice::expr::jsonata::internal
