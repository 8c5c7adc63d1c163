#include <array>
#include <string>

#include "base/base64.h"
#include "base/utf8.h"
#include "expr/jsonata/internal/builtin.h"
#include "expr/jsonata/internal/evaluator.h"
#include "expr/jsonata/internal/raise.h"
#include "expr/jsonata/internal/text.h"

namespace sluice::expr::jsonata::internal {
namespace {

constexpr auto kept_in_components = std::string_view{"-_.!~*'()"};
constexpr auto kept_in_urls = std::string_view{"-_.!~*'();/?:@&=+$,#"};
/// What stays encoded when a whole URL is decoded.
constexpr auto reserved_in_urls = std::string_view{";/?:@&=+$,#"};

bool is_letter_or_digit(char byte) {
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z');
}

[[noreturn]] void raise_malformed(const char* function, std::string_view text) {
    raise("D3140", "malformed URL passed to ${}(): \"{}\"", function, without_surrogates(text));
}

Item encode(const Call& call, std::string_view kept, const char* function) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto text = call[0].as_text();
    if (has_surrogates(text)) {
        raise_malformed(function, text);
    }
    auto out = std::string{};
    for (auto byte : text) {
        if (is_letter_or_digit(byte) || kept.contains(byte)) {
            out += byte;
        } else {
            out += fmt::format("%{:02X}", static_cast<unsigned char>(byte));
        }
    }
    return call.evaluator.make_text(out);
}

int hex_digit(char digit) {
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    auto lower = static_cast<char>(digit | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

Item decode(const Call& call, std::string_view reserved, const char* function) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto text = call[0].as_text();
    auto out = std::string{};
    auto decoded = std::string{}; // Of the run of escapes that is being read: must be UTF-8.
    auto end_run = [&] {
        if (!is_utf8(decoded)) {
            raise_malformed(function, text);
        }
        out += decoded;
        decoded.clear();
    };
    for (auto at = std::size_t{0}; at < text.size(); ++at) {
        if (text[at] != '%') {
            end_run();
            out += text[at];
            continue;
        }
        auto high = at + 2 < text.size() ? hex_digit(text[at + 1]) : -1;
        auto low = at + 2 < text.size() ? hex_digit(text[at + 2]) : -1;
        if (high < 0 || low < 0) {
            raise_malformed(function, text);
        }
        auto byte = static_cast<char>(high * 16 + low);
        if (reserved.contains(byte)) {
            end_run();
            out += text.substr(at, 3);
        } else {
            decoded += byte;
        }
        at += 2;
    }
    end_run();
    return call.evaluator.make_text(out);
}

Item run_encode_component(const Call& call) {
    return encode(call, kept_in_components, "encodeUrlComponent");
}
Item run_encode_url(const Call& call) {
    return encode(call, kept_in_urls, "encodeUrl");
}
Item run_decode_component(const Call& call) {
    return decode(call, {}, "decodeUrlComponent");
}
Item run_decode_url(const Call& call) {
    return decode(call, reserved_in_urls, "decodeUrl");
}

/// The reference takes a byte of each character.
Item run_base64_encode(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto text = call[0].as_text();
    auto bytes = std::string{};
    for (auto at = std::size_t{0}; at < text.size();) {
        auto [code, size] = character_at(text, at);
        if (code > 0xFFFF) {
            bytes += static_cast<char>((0xD7C0U + (code >> 10U)) & 0xFFU);
            code = 0xDC00U | (code & 0x3FFU);
        }
        bytes += static_cast<char>(code & 0xFFU);
        at += size;
    }
    return call.evaluator.make_text(base64_encode(bytes));
}

Item run_base64_decode(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto out = std::string{};
    auto bits = 0U;
    auto count = 0U;
    constexpr auto digits =
        std::string_view{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"};
    for (auto character : call[0].as_text()) {
        character = character == '-' ? '+' : character == '_' ? '/' : character;
        auto digit = digits.find(character);
        if (character == '=') {
            break;
        }
        if (digit == digits.npos) {
            continue;
        }
        bits = (bits << 6U | static_cast<unsigned>(digit)) & 0xFFFFFFU;
        count += 6;
        if (count >= 8) {
            count -= 8;
            append_code(bits >> count & 0xFFU, out);
        }
    }
    return call.evaluator.make_text(out);
}

} // namespace

std::span<const Builtin> encoding_builtins() {
    static constexpr auto builtins = std::to_array<Builtin>({
        {"base64encode", "<s-:s>", 1, run_base64_encode},
        {"base64decode", "<s-:s>", 1, run_base64_decode},
        {"encodeUrlComponent", "<s-:s>", 1, run_encode_component},
        {"encodeUrl", "<s-:s>", 1, run_encode_url},
        {"decodeUrlComponent", "<s-:s>", 1, run_decode_component},
        {"decodeUrl", "<s-:s>", 1, run_decode_url},
    });
    return builtins;
}

} // namespace sluice::expr::jsonata::internal
