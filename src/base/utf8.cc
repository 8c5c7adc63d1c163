#include "base/utf8.h"

namespace sluice {

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

CodePoint decode_utf8(std::string_view text) {
    auto first = static_cast<unsigned char>(text.front());
    auto lead = lead_of(first);
    if (!lead.is_valid || followers_present(text, lead) != lead.followers) {
        return {};
    }
    auto code = std::uint32_t{first};
    if (lead.followers > 0) {
        code &= 0x3FU >> lead.followers;
    }
    for (auto byte : text.substr(1, lead.followers)) {
        code = (code << 6U) | (static_cast<unsigned char>(byte) & 0x3FU);
    }
    return {code, lead.followers + 1};
}

bool is_character(std::uint32_t code) {
    return code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
}

void append_utf8(std::uint32_t code, std::string& out) {
    auto push = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
        push(code);
        return;
    }
    if (code < 0x800) {
        push(0xC0U | (code >> 6U));
    } else {
        if (code < 0x10000) {
            push(0xE0U | (code >> 12U));
        } else {
            push(0xF0U | (code >> 18U));
            push(0x80U | ((code >> 12U) & 0x3FU));
        }
        push(0x80U | ((code >> 6U) & 0x3FU));
    }
    push(0x80U | (code & 0x3FU));
}

std::size_t valid_utf8_prefix(std::string_view text) {
    auto at = std::size_t{0};
    while (at < text.size()) {
        if (static_cast<unsigned char>(text[at]) < 0x80) {
            ++at;
            continue;
        }
        auto size = decode_utf8(text.substr(at)).size;
        if (size == 0) {
            break;
        }
        at += size;
    }
    return at;
}

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

} // namespace sluice
