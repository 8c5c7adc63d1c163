#include "event/internal/attribute_rules.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace sluice::event::internal {

namespace {

enum Class : std::uint16_t {
    NameChar = 1,      // a-z 0-9
    TokenChar = 2,     // RFC 2045: token
    SchemeChar = 4,    // ALPHA DIGIT + - .
    RegNameChar = 8,   // unreserved, sub-delims
    UserInfoChar = 16, // reg-name and ':'
    PathChar = 32,     // pchar and '/'
    QueryChar = 64,    // pchar, '/' and '?'
    HexDigit = 128,
    SegmentChar = 256, // what may stand in a path wherever it is: pchar but ':', and '/'
};

constexpr auto classes = [] {
    auto table = std::array<std::uint16_t, 256>{};
    auto add = [&table](std::string_view bytes, unsigned mask) {
        for (auto byte : bytes) {
            table[static_cast<unsigned char>(byte)] |= static_cast<std::uint16_t>(mask);
        }
    };
    constexpr auto in_uri = RegNameChar | UserInfoChar | PathChar | QueryChar | SegmentChar;
    add("abcdefghijklmnopqrstuvwxyz0123456789", NameChar | TokenChar | SchemeChar | in_uri);
    add("ABCDEFGHIJKLMNOPQRSTUVWXYZ", TokenChar | SchemeChar | in_uri);
    add("0123456789abcdefABCDEF", HexDigit);
    add("+-.", SchemeChar);
    add("-._~!$&'()*+,;=", in_uri);
    add(":", UserInfoChar | PathChar | QueryChar);
    add("@/", PathChar | QueryChar | SegmentChar);
    add("?", QueryChar);
    add("!#$%&'*+-.^_`{|}~", TokenChar);
    return table;
}();

bool is_of(char byte, Class mask) {
    return (classes[static_cast<unsigned char>(byte)] & mask) != 0;
}

bool is_all_of(std::string_view text, Class mask) {
    return std::ranges::all_of(text, [mask](char byte) { return is_of(byte, mask); });
}

bool is_all_digits(std::string_view text) {
    return std::ranges::all_of(text, [](char byte) { return byte >= '0' && byte <= '9'; });
}

// Bytes of the class and percent-encoded ones.
bool is_uri_part(std::string_view text, Class mask) {
    for (auto at = std::size_t{0}; at < text.size(); ++at) {
        if (is_of(text[at], mask)) {
            continue;
        }
        auto is_encoded = text[at] == '%' && text.size() - at > 2 &&
                          is_of(text[at + 1], HexDigit) && is_of(text[at + 2], HexDigit);
        if (!is_encoded) {
            return false;
        }
        at += 2;
    }
    return true;
}

bool is_scheme(std::string_view text) {
    auto is_letter = [](char byte) { return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z'; };
    return !text.empty() && is_letter(text.front()) && is_all_of(text, SchemeChar);
}

// What stands before the first of the bytes; it and the byte leave the rest.
std::string_view cut_before(std::string_view& rest, char byte) {
    auto at = std::min(rest.find(byte), rest.size());
    auto head = rest.substr(0, at);
    rest.remove_prefix(std::min(at + 1, rest.size()));
    return head;
}

bool is_port(std::string_view text) {
    return text.empty() || (text.front() == ':' && is_all_digits(text.substr(1)));
}

bool is_authority(std::string_view text) {
    if (auto at = text.find('@'); at != std::string_view::npos) {
        if (!is_uri_part(text.substr(0, at), UserInfoChar)) {
            return false;
        }
        text.remove_prefix(at + 1);
    }
    if (text.starts_with('[')) {
        auto end = text.find(']');
        return end != std::string_view::npos && end > 1 &&
               is_all_of(text.substr(1, end - 1), UserInfoChar) && is_port(text.substr(end + 1));
    }
    auto host_size = std::min(text.find(':'), text.size());
    return is_uri_part(text.substr(0, host_size), RegNameChar) && is_port(text.substr(host_size));
}

bool is_attribute_code(std::uint32_t code) {
    auto is_control = code < 0x20 || (code >= 0x7F && code <= 0x9F);
    auto is_noncharacter = (code >= 0xFDD0 && code <= 0xFDEF) || (code & 0xFFFEU) == 0xFFFE;
    return !is_control && !is_noncharacter;
}

void trim_left(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

std::string_view cut_token(std::string_view& text) {
    auto end = std::ranges::find_if_not(text, [](char byte) { return is_of(byte, TokenChar); });
    auto token = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(token.size());
    return token;
}

bool cut_quoted(std::string_view& text) {
    for (auto at = std::size_t{1}; at < text.size(); ++at) {
        if (text[at] == '"') {
            text.remove_prefix(at + 1);
            return true;
        }
        at += text[at] == '\\' ? 1 : 0;
    }
    return false;
}

bool cut_byte(std::string_view& text, char byte) {
    if (!text.starts_with(byte)) {
        return false;
    }
    text.remove_prefix(1);
    return true;
}

bool cut_parameter(std::string_view& text) {
    trim_left(text);
    if (!cut_byte(text, ';')) {
        return false;
    }
    trim_left(text);
    if (cut_token(text).empty() || !cut_byte(text, '=')) {
        return false;
    }
    return text.starts_with('"') ? cut_quoted(text) : !cut_token(text).empty();
}

} // namespace

UriKind classify_uri(std::string_view text) {
    // Most are just a path.
    if (is_all_of(text, SegmentChar) && !text.starts_with("//")) {
        return UriKind::Relative;
    }
    auto kind = UriKind::Relative;
    auto rest = text;
    auto before_fragment = cut_before(rest, '#');
    if (!is_uri_part(rest, QueryChar)) {
        return UriKind::Invalid;
    }
    rest = before_fragment;
    auto path = cut_before(rest, '?');
    if (!is_uri_part(rest, QueryChar)) {
        return UriKind::Invalid;
    }
    // A colon in the first segment ends a scheme, or has no business there.
    if (auto colon = path.substr(0, path.find('/')).find(':'); colon != std::string_view::npos) {
        if (!is_scheme(path.substr(0, colon))) {
            return UriKind::Invalid;
        }
        kind = UriKind::Absolute;
        path.remove_prefix(colon + 1);
    }
    if (path.starts_with("//")) {
        path.remove_prefix(2);
        auto authority = path.substr(0, path.find('/'));
        if (!is_authority(authority)) {
            return UriKind::Invalid;
        }
        path.remove_prefix(authority.size());
    }
    return is_uri_part(path, PathChar) ? kind : UriKind::Invalid;
}

bool is_media_type(std::string_view text) {
    if (cut_token(text).empty() || !cut_byte(text, '/') || cut_token(text).empty()) {
        return false;
    }
    while (!text.empty()) {
        if (!cut_parameter(text)) {
            return false;
        }
    }
    return true;
}

bool is_attribute_name(std::string_view name) {
    return !name.empty() && is_all_of(name, NameChar);
}

bool is_attribute_text(std::string_view text) {
    while (!text.empty()) {
        auto point = decode_utf8(text);
        if (point.size == 0 || !is_attribute_code(point.code)) {
            return false;
        }
        text.remove_prefix(point.size);
    }
    return true;
}

bool is_scope(std::string_view text) {
    auto segments = std::size_t{1};
    auto previous = '/';
    for (auto byte : text) {
        if (byte == '/') {
            if (previous == '/') {
                return false;
            }
            ++segments;
        }
        previous = byte;
    }
    return previous != '/' && segments <= scope_segments_max;
}

} // namespace sluice::event::internal
