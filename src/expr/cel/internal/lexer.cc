#include "expr/cel/internal/lexer.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace sluice::expr::cel::internal {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_hex_digit(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_name_start(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_name_part(char c) {
    return is_name_start(c) || is_digit(c);
}
bool is_quote(char c) {
    return c == '\'' || c == '"';
}

class Lexer {
public:
    Lexer(std::string_view source, std::size_t begin) : source_{source}, at_{begin} {}

    Parsed<Token> next() {
        skip_space();
        auto c = peek();
        if (at_ >= source_.size()) {
            return Token{TokenKind::End, {}, at_};
        }
        if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
            return number();
        }
        if (auto prefix = text_prefix(); is_quote(peek(prefix))) {
            return text(prefix);
        }
        if (is_name_start(c)) {
            auto length = std::size_t{1};
            while (is_name_part(peek(length))) {
                ++length;
            }
            return take(TokenKind::Name, length);
        }
        return symbol();
    }

private:
    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
    }

    Token take(TokenKind kind, std::size_t length) {
        auto token = Token{kind, source_.substr(at_, length), at_};
        at_ += length;
        return token;
    }

    void skip_space() {
        while (at_ < source_.size()) {
            if (source_.substr(at_).starts_with("//")) {
                at_ = std::min(source_.find('\n', at_), source_.size());
            } else if (std::string_view{" \t\n\f\r"}.contains(source_[at_])) {
                ++at_;
            } else {
                return;
            }
        }
    }

    std::size_t digits_from(std::size_t ahead) const {
        while (is_digit(peek(ahead))) {
            ++ahead;
        }
        return ahead;
    }

    Token whole_number(std::size_t length) {
        auto is_unsigned = peek(length) == 'u' || peek(length) == 'U';
        return is_unsigned ? take(TokenKind::Uint, length + 1) : take(TokenKind::Int, length);
    }

    Token number() {
        if (peek() == '0' && peek(1) == 'x' && is_hex_digit(peek(2))) {
            auto length = std::size_t{2};
            while (is_hex_digit(peek(length))) {
                ++length;
            }
            return whole_number(length);
        }
        auto whole = digits_from(0);
        auto length = whole;
        if (peek(length) == '.' && is_digit(peek(length + 1))) {
            length = digits_from(length + 1);
        }
        if (peek(length) == 'e' || peek(length) == 'E') {
            auto sign = peek(length + 1) == '+' || peek(length + 1) == '-' ? 1U : 0U;
            if (is_digit(peek(length + 1 + sign))) {
                length = digits_from(length + 1 + sign);
            }
        }
        return length == whole ? whole_number(whole) : take(TokenKind::Double, length);
    }

    std::size_t text_prefix() const {
        auto first = peek();
        if (first == 'r' || first == 'R') {
            return 1;
        }
        if (first == 'b' || first == 'B') {
            return peek(1) == 'r' || peek(1) == 'R' ? 2 : 1;
        }
        return 0;
    }

    Parsed<Token> text(std::size_t prefix) {
        auto is_bytes = prefix > 0 && (peek() == 'b' || peek() == 'B');
        auto is_raw = prefix == 2 || (prefix == 1 && !is_bytes);
        auto quote = source_.substr(at_ + prefix, 1);
        auto triple = source_.substr(at_ + prefix, 3);
        auto is_triple = triple.size() == 3 && triple == std::string(3, quote[0]);
        auto close = is_triple ? triple : quote;
        auto length = prefix + close.size();
        while (at_ + length < source_.size()) {
            auto c = peek(length);
            if (source_.substr(at_ + length).starts_with(close)) {
                return take(is_bytes ? TokenKind::Bytes : TokenKind::String, length + close.size());
            }
            if (!is_triple && (c == '\n' || c == '\r')) {
                break;
            }
            length += c == '\\' && !is_raw ? 2 : 1;
        }
        return fail_at(at_, "a text is not closed: expected {}", close);
    }

    Parsed<Token> escaped_name() {
        auto length = std::size_t{1};
        while (is_name_part(peek(length)) || std::string_view{".-/ "}.contains(peek(length))) {
            ++length;
        }
        if (peek(length) != '`' || length == 1) {
            return fail_at(at_,
                           "a name in backticks is letters, digits, \"_.-/\" and spaces, then "
                           "a backtick");
        }
        return take(TokenKind::Escaped, length + 1);
    }

    Parsed<Token> symbol() {
        constexpr auto doubles = std::array{"==", "!=", "<=", ">=", "&&", "||"};
        auto two = source_.substr(at_, 2);
        if (std::ranges::find(doubles, two) != doubles.end()) {
            return take(TokenKind::Symbol, 2);
        }
        if (std::string_view{"()[]{}.,?:+-*/%<>!"}.contains(peek())) {
            return take(TokenKind::Symbol, 1);
        }
        auto c = peek();
        if (c == '&' || c == '|' || c == '=') {
            return fail_at(at_, "expected \"{0}{0}\", found \"{0}\"", c);
        }
        if (c == '`') {
            return escaped_name();
        }
        if (c < ' ' || c > '~') {
            return fail_at(at_, "unexpected byte 0x{:02x}", static_cast<unsigned char>(c));
        }
        return fail_at(at_, "unexpected character \"{}\"", c);
    }

    std::string_view source_;
    std::size_t at_;
};

} // namespace

Parsed<void> check_encoding(std::string_view source) {
    if (auto valid = valid_utf8_prefix(source); valid < source.size()) {
        return fail_at(valid, "expected UTF-8, found the byte 0x{:02x}",
                       static_cast<unsigned char>(source[valid]));
    }
    return {};
}

Parsed<std::vector<Token>> tokenize(std::string_view source, std::size_t begin, Until until) {
    auto lexer = Lexer{source, begin};
    auto tokens = std::vector<Token>{};
    auto open = std::size_t{0};
    while (true) {
        auto token = TRY(lexer.next());
        if (token.position + token.text.size() - begin > expression_bytes_max) {
            return refuse("too_long", begin, "an expression is longer than {} bytes",
                          expression_bytes_max);
        }
        if (token.kind == TokenKind::End) {
            if (until == Until::ClosingBrace) {
                return fail_at(begin, "an expression is not closed: expected }}");
            }
            tokens.push_back(token);
            return tokens;
        }
        if (until == Until::ClosingBrace && open == 0 && token.is("}")) {
            tokens.push_back({TokenKind::End, {}, token.position});
            return tokens;
        }
        open += token.is("{") ? 1 : 0;
        open -= token.is("}") && open > 0 ? 1 : 0;
        tokens.push_back(token);
    }
}

} // namespace sluice::expr::cel::internal
