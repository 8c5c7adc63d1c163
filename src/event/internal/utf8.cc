#include "event/internal/utf8.h"

namespace sluice::event::internal {

namespace {

std::uint32_t byte_at(std::string_view text, std::size_t at) {
    return static_cast<unsigned char>(text[at]);
}

bool is_continuation(std::uint32_t byte) {
    return (byte & 0xC0U) == 0x80;
}

CodePoint decode_long(std::string_view text, std::size_t size, std::uint32_t lead_bits,
                      std::uint32_t code_min) {
    if (text.size() < size) {
        return {};
    }
    auto code = lead_bits;
    for (auto at = std::size_t{1}; at < size; ++at) {
        auto byte = byte_at(text, at);
        if (!is_continuation(byte)) {
            return {};
        }
        code = (code << 6U) | (byte & 0x3FU);
    }
    auto is_surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (code < code_min || code > 0x10FFFF || is_surrogate) {
        return {};
    }
    return {code, size};
}

} // namespace

CodePoint decode_utf8(std::string_view text) {
    auto lead = byte_at(text, 0);
    if (lead < 0x80) {
        return {lead, 1};
    }
    if ((lead & 0xE0U) == 0xC0) {
        return decode_long(text, 2, lead & 0x1FU, 0x80);
    }
    if ((lead & 0xF0U) == 0xE0) {
        return decode_long(text, 3, lead & 0x0FU, 0x800);
    }
    if ((lead & 0xF8U) == 0xF0) {
        return decode_long(text, 4, lead & 0x07U, 0x10000);
    }
    return {};
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

} // namespace sluice::event::internal
