#include "value/internal/utf8.h"

#include <algorithm>
#include <cstddef>

namespace sluice::value {

namespace {

/// What the first byte of a character says: how many follow, and the bounds of the second.
struct Lead {
    std::size_t followers = 0;
    unsigned char second_min = 0x80;
    unsigned char second_max = 0xBF;
    bool is_valid = true;
};

// Unicode 15, table 3-7: well-formed UTF-8 byte sequences.
Lead lead_of(unsigned char byte) {
    if (byte < 0x80) {
        return {};
    }
    if (byte < 0xC2 || byte > 0xF4) {
        return {.is_valid = false};
    }
    if (byte < 0xE0) {
        return {.followers = 1};
    }
    if (byte < 0xF0) {
        return {.followers = 2,
                .second_min = static_cast<unsigned char>(byte == 0xE0 ? 0xA0 : 0x80),
                .second_max = static_cast<unsigned char>(byte == 0xED ? 0x9F : 0xBF)};
    }
    return {.followers = 3,
            .second_min = static_cast<unsigned char>(byte == 0xF0 ? 0x90 : 0x80),
            .second_max = static_cast<unsigned char>(byte == 0xF4 ? 0x8F : 0xBF)};
}

std::size_t followers_present(std::string_view text, const Lead& lead) {
    auto count = std::size_t{0};
    while (count < lead.followers && count + 1 < text.size()) {
        auto byte = static_cast<unsigned char>(text[count + 1]);
        auto min = count == 0 ? lead.second_min : 0x80;
        auto max = count == 0 ? lead.second_max : 0xBF;
        if (byte < min || byte > max) {
            break;
        }
        ++count;
    }
    return count;
}

} // namespace

std::string replace_invalid_utf8(std::string_view text) {
    auto out = std::string{};
    while (!text.empty()) {
        auto lead = lead_of(static_cast<unsigned char>(text.front()));
        auto followers = followers_present(text, lead);
        if (lead.is_valid && followers == lead.followers) {
            out.append(text, 0, followers + 1);
        } else {
            out += "\xEF\xBF\xBD";
        }
        text.remove_prefix(followers + 1);
    }
    return out;
}

} // namespace sluice::value
