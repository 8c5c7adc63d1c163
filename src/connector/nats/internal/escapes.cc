#include "connector/nats/internal/escapes.h"

#include <cstdint>

#include <fmt/format.h>

namespace sluice::connector::nats::internal {

namespace {

int digit_of(char letter) {
    if (letter >= '0' && letter <= '9') {
        return letter - '0';
    }
    auto small = static_cast<char>(letter | 0x20);
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

} // namespace

std::string unescape(std::string_view text) {
    auto plain = std::string{};
    plain.reserve(text.size());
    for (auto at = std::size_t{0}; at < text.size(); ++at) {
        auto high = text[at] == '%' && at + 2 < text.size() ? digit_of(text[at + 1]) : -1;
        auto low = high < 0 ? -1 : digit_of(text[at + 2]);
        if (low < 0) {
            plain += text[at];
        } else {
            plain += static_cast<char>(high * 16 + low);
            at += 2;
        }
    }
    return plain;
}

std::string escape(std::string_view text) {
    auto escaped = std::string{};
    escaped.reserve(text.size());
    for (auto letter : text) {
        if (letter > ' ' && letter < '\x7F' && letter != '"' && letter != '%') {
            escaped += letter;
        } else {
            escaped += fmt::format("%{:02X}", static_cast<std::uint8_t>(letter));
        }
    }
    return escaped;
}

} // namespace sluice::connector::nats::internal
