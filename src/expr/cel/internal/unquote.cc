#include <charconv>

#include "base/utf8.h"
#include "expr/cel/internal/lexer.h"

namespace sluice::expr::cel::internal {
namespace {

char simple_escape(char letter) {
    switch (letter) {
        case 'a': return '\a';
        case 'b': return '\b';
        case 'f': return '\f';
        case 'n': return '\n';
        case 'r': return '\r';
        case 't': return '\t';
        case 'v': return '\v';
        case '\\':
        case '?':
        case '"':
        case '\'':
        case '`': return letter;
        default: return '\0';
    }
}

struct Escape {
    std::size_t skip = 0;
    std::size_t digits = 0;
    int base = 10;
};

Escape numeric_escape(char letter) {
    switch (letter) {
        case 'x':
        case 'X': return {1, 2, 16};
        case 'u': return {1, 4, 16};
        case 'U': return {1, 8, 16};
        case '0':
        case '1':
        case '2':
        case '3': return {0, 3, 8};
        default: return {};
    }
}

/// Reads the escape whose letter is at `at`; gives the place behind it.
Parsed<std::size_t> resolve_escape(std::string_view body, std::size_t at, std::size_t position,
                                   bool is_bytes, std::string& out) {
    auto letter = body[at];
    if (auto plain = simple_escape(letter); plain != '\0') {
        out += plain;
        return at + 1;
    }
    auto form = numeric_escape(letter);
    auto digits = body.substr(at).substr(form.skip, form.digits);
    auto point = std::uint32_t{0};
    auto read = std::from_chars(digits.data(), digits.data() + digits.size(), point, form.base);
    auto is_character_escape = letter == 'u' || letter == 'U';
    auto is_whole = form.digits > 0 && digits.size() == form.digits && read.ec == std::errc{} &&
                    read.ptr == digits.data() + digits.size();
    if (!is_whole || (is_bytes && is_character_escape)) {
        return fail_at(position, "\"\\{}\" is no escape sequence of {}", letter,
                       is_bytes ? "bytes" : "a text");
    }
    if (is_bytes) {
        out += static_cast<char>(point);
        return at + form.skip + form.digits;
    }
    if (!is_character(point)) {
        return fail_at(position, "U+{:04X} is no character", point);
    }
    append_utf8(point, out);
    return at + form.skip + form.digits;
}

} // namespace

Parsed<std::string> unquote(const Token& token) {
    auto body = token.text;
    auto is_bytes = token.kind == TokenKind::Bytes;
    body.remove_prefix(is_bytes ? 1 : 0);
    auto is_raw = body[0] == 'r' || body[0] == 'R';
    body.remove_prefix(is_raw ? 1 : 0);
    auto is_triple = body.size() >= 6 && body[1] == body[0] && body[2] == body[0];
    auto quotes = is_triple ? 3U : 1U;
    body = body.substr(quotes, body.size() - 2 * quotes);
    auto start = token.position + static_cast<std::size_t>(body.data() - token.text.data());
    auto out = std::string{};
    auto at = std::size_t{0};
    while (at < body.size()) {
        if (body[at] != '\\' || is_raw) {
            out += body[at++];
            continue;
        }
        at = TRY(resolve_escape(body, at + 1, start + at, is_bytes, out));
    }
    return out;
}

} // namespace sluice::expr::cel::internal
