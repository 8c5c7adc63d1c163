#include "base/base64.h"

#include <array>
#include <cstdint>

namespace sluice {

namespace {

constexpr auto alphabet =
    std::string_view{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"};

constexpr auto values = [] {
    auto table = std::array<std::int8_t, 256>{};
    table.fill(-1);
    for (auto at = std::size_t{0}; at < alphabet.size(); ++at) {
        table[static_cast<unsigned char>(alphabet[at])] = static_cast<std::int8_t>(at);
    }
    return table;
}();

std::string_view without_padding(std::string_view text) {
    for (auto count = 0; count < 2 && text.ends_with('='); ++count) {
        text.remove_suffix(1);
    }
    return text;
}

} // namespace

bool is_base64(std::string_view text) {
    if (text.size() % 4 != 0) {
        return false;
    }
    auto body = without_padding(text);
    auto seen = std::int8_t{0};
    for (auto byte : body) {
        seen |= values[static_cast<unsigned char>(byte)];
    }
    if (seen < 0) {
        return false;
    }
    auto padding = text.size() - body.size();
    auto unused_bits = padding == 2 ? 0x0F : padding == 1 ? 0x03 : 0;
    return padding == 0 || (values[static_cast<unsigned char>(body.back())] & unused_bits) == 0;
}

void base64_encode(std::string_view bytes, std::string& out) {
    out.reserve(out.size() + (bytes.size() + 2) / 3 * 4);
    for (auto at = std::size_t{0}; at < bytes.size(); at += 3) {
        auto group = std::uint32_t{0};
        auto size = std::min<std::size_t>(3, bytes.size() - at);
        for (auto offset = std::size_t{0}; offset < 3; ++offset) {
            auto byte = offset < size ? static_cast<unsigned char>(bytes[at + offset]) : 0U;
            group = (group << 8U) | byte;
        }
        for (auto digit = std::size_t{0}; digit < 4; ++digit) {
            out.push_back(digit <= size ? alphabet[(group >> (18 - 6 * digit)) & 63U] : '=');
        }
    }
}

std::string base64_encode(std::string_view bytes) {
    auto out = std::string{};
    base64_encode(bytes, out);
    return out;
}

Result<std::string> base64_decode(std::string_view text) {
    if (text.size() % 4 != 0) {
        return fail(Errc::InvalidInput, "base64 of {} characters: expected a multiple of 4",
                    text.size());
    }
    auto padding = std::size_t{0};
    while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') {
        ++padding;
    }
    auto bytes = std::string{};
    bytes.reserve(text.size() / 4 * 3);
    auto group = std::uint32_t{0};
    for (auto at = std::size_t{0}; at < text.size(); ++at) {
        auto is_padding = at >= text.size() - padding;
        auto value = is_padding ? 0 : values[static_cast<unsigned char>(text[at])];
        if (value < 0) {
            return fail(Errc::InvalidInput, "base64 with the character 0x{:02x} at {}",
                        static_cast<unsigned char>(text[at]), at);
        }
        group = (group << 6U) | static_cast<std::uint32_t>(value);
        if (at % 4 == 3) {
            bytes.push_back(static_cast<char>(group >> 16U));
            bytes.push_back(static_cast<char>(group >> 8U));
            bytes.push_back(static_cast<char>(group));
            group = 0;
        }
    }
    // What the padding hides must be zero: each byte string has one text.
    for (auto at = std::size_t{0}; at < padding; ++at) {
        if (bytes.back() != 0) {
            return fail(Errc::InvalidInput, "base64 with bits set behind its end");
        }
        bytes.pop_back();
    }
    return bytes;
}

} // namespace sluice
