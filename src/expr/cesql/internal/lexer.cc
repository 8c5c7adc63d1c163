#include "expr/cesql/internal/lexer.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/result.h"
#include "base/utf8.h"

namespace sluice::expr::cesql::internal {
namespace {

constexpr std::size_t text_bytes_max = 64UL * 1024;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

char to_upper(char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

std::size_t end_of_word(std::string_view text, std::size_t at) {
    while (at < text.size() && is_word(text[at])) {
        ++at;
    }
    return at;
}

Token word(std::string_view text, std::size_t begin) {
    auto token = Token{.position = begin, .end = end_of_word(text, begin)};
    token.text = text.substr(begin, token.end - begin);
    std::ranges::transform(token.text, token.text.begin(), to_upper);
    token.kind =
        std::ranges::all_of(token.text, is_digit) ? Token::Kind::Integer : Token::Kind::Word;
    return token;
}

/// A backslash takes its quote's meaning away and is itself otherwise; LIKE looks at the rest.
std::expected<Token, Fault> quoted(std::string_view text, std::size_t begin) {
    auto quote = text[begin];
    auto token = Token{.kind = Token::Kind::Text, .position = begin};
    for (auto at = begin + 1; at < text.size(); ++at) {
        auto is_followed = at + 1 < text.size();
        if (text[at] == '\\' && is_followed) {
            if (text[at + 1] != quote) {
                token.text += '\\';
            }
            token.text += text[++at];
        } else if (text[at] != quote) {
            token.text += text[at];
        } else if (is_followed && text[at + 1] == quote) {
            token.text += text[at++];
        } else {
            token.end = at + 1;
            return token;
        }
    }
    return parse_fault(begin, fmt::format("the text has no end: expected a closing {}", quote));
}

std::expected<Token, Fault> sign(std::string_view text, std::size_t begin) {
    constexpr auto signs = std::to_array<std::string_view>(
        {"!=", "<>", "<=", ">=", "=", "<", ">", "(", ")", ",", "*", "/", "%", "+", "-"});
    for (auto each : signs) {
        if (text.substr(begin).starts_with(each)) {
            return Token{Token::Kind::Sign, std::string{each}, begin, begin + each.size()};
        }
    }
    return parse_fault(begin,
                       fmt::format("there is no operator that begins with '{}'",
                                   text.substr(begin, decode_utf8(text.substr(begin)).size)));
}

} // namespace

std::unexpected<Fault> parse_fault(std::size_t position, std::string message) {
    return std::unexpected(Fault{"parse", std::move(message), position});
}

std::expected<std::vector<Token>, Fault> tokenize(std::string_view text) {
    if (text.size() > text_bytes_max) {
        return parse_fault(0, fmt::format("an expression has at most {} bytes, found {}",
                                          text_bytes_max, text.size()));
    }
    if (auto valid = valid_utf8_prefix(text); valid != text.size()) {
        return parse_fault(valid, "the expression is no UTF-8 here");
    }
    auto tokens = std::vector<Token>{};
    auto at = std::size_t{0};
    while (true) {
        at = text.find_first_not_of(" \t\r\n", at);
        if (at == std::string_view::npos) {
            tokens.push_back({.position = text.size(), .end = text.size()});
            return tokens;
        }
        if (is_word(text[at])) {
            tokens.push_back(word(text, at));
        } else if (text[at] == '\'' || text[at] == '"') {
            tokens.push_back(TRY(quoted(text, at)));
        } else {
            tokens.push_back(TRY(sign(text, at)));
        }
        at = tokens.back().end;
    }
}

} // namespace sluice::expr::cesql::internal
