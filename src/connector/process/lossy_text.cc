#include "connector/process/lossy_text.h"

#include <algorithm>
#include <cstdint>

namespace sluice::connector::process {
namespace {

constexpr auto replacement = std::string_view{"\xEF\xBF\xBD"};

struct Lead {
    std::size_t size = 0; ///< Of the character; zero when no character begins with this byte.
    std::uint8_t second_min =
        0; ///< Of the second byte: excludes overlong forms, surrogates and beyond U+10FFFF.
    std::uint8_t second_max = 0;
};

/// The Unicode Standard, table 3-7, "Well-Formed UTF-8 Byte Sequences".
Lead lead_of(std::uint8_t byte) {
    if (byte < 0x80) {
        return {1, 0, 0};
    }
    if (byte >= 0xC2 && byte <= 0xDF) {
        return {2, 0x80, 0xBF};
    }
    if (byte >= 0xE0 && byte <= 0xEF) {
        auto min = std::uint8_t{byte == 0xE0 ? std::uint8_t{0xA0} : std::uint8_t{0x80}};
        auto max = std::uint8_t{byte == 0xED ? std::uint8_t{0x9F} : std::uint8_t{0xBF}};
        return {3, min, max};
    }
    if (byte >= 0xF0 && byte <= 0xF4) {
        auto min = std::uint8_t{byte == 0xF0 ? std::uint8_t{0x90} : std::uint8_t{0x80}};
        auto max = std::uint8_t{byte == 0xF4 ? std::uint8_t{0x8F} : std::uint8_t{0xBF}};
        return {4, min, max};
    }
    return {};
}

/// Bytes of the character that begins the text; zero when none does.
std::size_t character_size(std::string_view text) {
    auto lead = lead_of(static_cast<std::uint8_t>(text[0]));
    if (lead.size <= 1) {
        return lead.size;
    }
    if (lead.size > text.size()) {
        return 0;
    }
    auto second = static_cast<std::uint8_t>(text[1]);
    auto is_continued = std::ranges::all_of(text.substr(2, lead.size - 2), [](char byte) {
        return (static_cast<std::uint8_t>(byte) & 0xC0U) == 0x80;
    });
    return second >= lead.second_min && second <= lead.second_max && is_continued ? lead.size : 0;
}

} // namespace

std::string lossy_text(std::string_view bytes) {
    auto text = std::string{};
    text.reserve(bytes.size());
    while (!bytes.empty()) {
        auto size = character_size(bytes);
        text += size > 0 ? bytes.substr(0, size) : replacement;
        bytes.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return text;
}

} // namespace sluice::connector::process
