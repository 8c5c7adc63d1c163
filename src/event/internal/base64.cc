#include "event/internal/base64.h"

#include <array>
#include <cstdint>

namespace sluice::event::internal {

namespace {

constexpr auto alphabet =
    std::string_view{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"};
constexpr auto not_a_digit = std::uint8_t{0x80};

constexpr auto digits = [] {
    auto table = std::array<std::uint8_t, 256>{};
    table.fill(not_a_digit);
    for (auto at = std::size_t{0}; at < alphabet.size(); ++at) {
        table[static_cast<unsigned char>(alphabet[at])] = static_cast<std::uint8_t>(at);
    }
    return table;
}();

std::uint8_t digit(char byte) {
    return digits[static_cast<unsigned char>(byte)];
}

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
    auto seen = std::uint8_t{0};
    for (auto byte : body) {
        seen |= digit(byte);
    }
    if ((seen & not_a_digit) != 0) {
        return false;
    }
    auto padding = text.size() - body.size();
    auto unused_bits = padding == 2 ? 0x0FU : padding == 1 ? 0x03U : 0U;
    return padding == 0 || (digit(body.back()) & unused_bits) == 0;
}

std::optional<std::string> decode_base64(std::string_view text) {
    if (!is_base64(text)) {
        return std::nullopt;
    }
    auto out = std::string{};
    out.reserve(text.size() / 4 * 3);
    auto bits = std::uint32_t{0};
    auto bit_count = 0;
    for (auto byte : without_padding(text)) {
        bits = (bits << 6U) | digit(byte);
        bit_count += 6;
        if (bit_count >= 8) {
            bit_count -= 8;
            out.push_back(static_cast<char>(bits >> static_cast<unsigned>(bit_count)));
        }
    }
    return out;
}

} // namespace sluice::event::internal
