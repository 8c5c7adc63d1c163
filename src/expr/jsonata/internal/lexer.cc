#include "expr/jsonata/internal/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "expr/jsonata/internal/raise.h"
#include "expr/jsonata/internal/text.h"

namespace sluice::expr::jsonata::internal {
namespace {

constexpr auto blanks = std::string_view{" \t\n\r\v"};
constexpr auto double_operators =
    std::array<std::string_view, 9>{"..", ":=", "!=", ">=", "<=", "**", "~>", "?:", "??"};
constexpr auto operator_characters = std::string_view{".[]{}(),@#;:?+-*/%|=<>^&!~"};

bool ends_name(char character) {
    return blanks.contains(character) || operator_characters.contains(character);
}

bool is_digit(char character) {
    return character >= '0' && character <= '9';
}

Item number_of(std::string_view digits, std::size_t position) {
    auto integer = std::int64_t{0};
    auto read = std::from_chars(digits.data(), digits.data() + digits.size(), integer);
    if (read.ec == std::errc{} && read.ptr == digits.data() + digits.size()) {
        return Item::of(integer);
    }
    auto real = std::strtod(std::string{digits}.c_str(), nullptr);
    if (!std::isfinite(real)) {
        raise_at(position, "S0102", "number out of range: {}", digits);
    }
    return number(real);
}

} // namespace

Token Lexer::next(Place place) {
    skip_blanks();
    auto token = Token{.position = at_};
    if (at_ >= text_.size()) {
        return token;
    }
    auto character = text_[at_];
    if (place == Place::Prefix && character == '/') {
        return read_regex();
    }
    for (auto op : double_operators) {
        if (text_.substr(at_, 2) == op) {
            at_ += 2;
            token.kind = TokenKind::Operator;
            token.text = op;
            return token;
        }
    }
    if (operator_characters.contains(character)) {
        ++at_;
        token.kind = TokenKind::Operator;
        token.text = character;
        return token;
    }
    if (character == '"' || character == '\'') {
        return read_string(character);
    }
    if (is_digit(character)) {
        return read_number();
    }
    return character == '`' ? read_quoted_name() : read_name();
}

void Lexer::skip_blanks() {
    for (;;) {
        while (at_ < text_.size() && blanks.contains(text_[at_])) {
            ++at_;
        }
        if (!text_.substr(at_).starts_with("/*")) {
            return;
        }
        auto end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) {
            raise_at(at_, "S0106", "comment has no closing tag: write */ behind it");
        }
        at_ = end + 2;
    }
}

std::size_t Lexer::end_of_regex() {
    auto depth = 0;
    for (auto end = at_; end < text_.size(); ++end) {
        auto character = text_[end];
        if (character == '\\') {
            ++end;
        } else if (character == '/' && depth == 0) {
            return end;
        } else if (std::string_view{"([{"}.contains(character)) {
            ++depth;
        } else if (std::string_view{")]}"}.contains(character)) {
            --depth;
        }
    }
    return std::string_view::npos;
}

Token Lexer::read_regex() {
    auto token = Token{.kind = TokenKind::Regex, .position = at_};
    ++at_;
    auto end = end_of_regex();
    if (end == std::string_view::npos) {
        raise_at(token.position, "S0302", "no terminating / in regular expression");
    }
    token.text = text_.substr(at_, end - at_);
    if (token.text.empty()) {
        raise_at(token.position, "S0301", "empty regular expressions are not allowed");
    }
    for (at_ = end + 1; at(at_) == 'i' || at(at_) == 'm'; ++at_) {
        token.flags += text_[at_];
    }
    return token;
}

std::uint32_t Lexer::read_hex(std::size_t from) const {
    auto code = std::uint32_t{0};
    auto digits = text_.substr(std::min(from, text_.size()), 4);
    auto read = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() != 4 || read.ptr != digits.data() + 4) {
        raise_at(at_, "S0104", "the escape sequence \\u must be followed by 4 hex digits");
    }
    return code;
}

void Lexer::append_unit(std::uint32_t unit, std::string& out) {
    auto is_high = unit >= 0xD800 && unit < 0xDC00;
    if (is_high && at(at_) == '\\' && at(at_ + 1) == 'u') {
        auto low = read_hex(at_ + 2);
        if (low >= 0xDC00 && low < 0xE000) {
            at_ += 6;
            append_code(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00), out);
            return;
        }
    }
    has_lone_surrogates_ |= unit >= 0xD800 && unit < 0xE000;
    append_code(unit, out);
}

void Lexer::read_escape(std::string& out) {
    auto character = at(++at_);
    constexpr auto names = std::string_view{"\"\\/bfnrt"};
    constexpr auto meanings = std::string_view{"\"\\/\b\f\n\r\t"};
    if (auto which = names.find(character); at_ < text_.size() && which != names.npos) {
        out += meanings[which];
        ++at_;
        return;
    }
    if (character != 'u') {
        raise_at(at_, "S0103", "unsupported escape sequence: \\{}", character);
    }
    auto unit = read_hex(at_ + 1);
    at_ += 5;
    append_unit(unit, out);
}

Token Lexer::read_string(char quote) {
    auto token = Token{.kind = TokenKind::String, .position = at_};
    ++at_;
    while (at_ < text_.size()) {
        auto character = text_[at_];
        if (character == '\\') {
            read_escape(token.text);
        } else if (character == quote) {
            ++at_;
            return token;
        } else {
            token.text += character;
            ++at_;
        }
    }
    raise_at(token.position, "S0101", "string literal must be terminated by a matching quote");
}

Token Lexer::read_number() {
    auto token = Token{.kind = TokenKind::Number, .position = at_};
    auto end = at_;
    auto skip_digits = [&] {
        while (is_digit(at(end))) {
            ++end;
        }
    };
    if (at(end) == '0') {
        ++end;
    } else {
        skip_digits();
    }
    if (at(end) == '.' && is_digit(at(end + 1))) {
        ++end;
        skip_digits();
    }
    if (at(end) == 'e' || at(end) == 'E') {
        auto digits = end + 1 + (at(end + 1) == '+' || at(end + 1) == '-' ? 1 : 0);
        if (is_digit(at(digits))) {
            end = digits;
            skip_digits();
        }
    }
    token.text = text_.substr(at_, end - at_);
    token.constant = number_of(token.text, at_);
    at_ = end;
    return token;
}

Token Lexer::read_quoted_name() {
    auto token = Token{.kind = TokenKind::Name, .position = at_};
    auto end = text_.find('`', at_ + 1);
    if (end == std::string_view::npos) {
        raise_at(at_, "S0105", "quoted property name must be terminated with a backquote (`)");
    }
    token.text = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return token;
}

Token Lexer::read_name() {
    auto token = Token{.kind = TokenKind::Name, .position = at_};
    auto end = at_;
    while (end < text_.size() && !ends_name(text_[end])) {
        ++end;
    }
    token.text = text_.substr(at_, end - at_);
    at_ = end;
    if (token.text.starts_with('$')) {
        token.kind = TokenKind::Variable;
        token.text.erase(0, 1);
    } else if (token.text == "and" || token.text == "or" || token.text == "in") {
        token.kind = TokenKind::Operator;
    } else if (token.text == "true" || token.text == "false") {
        token.kind = TokenKind::Constant;
        token.constant = Item::of(token.text == "true");
    } else if (token.text == "null") {
        token.kind = TokenKind::Constant;
        token.constant = Item::null();
    }
    return token;
}

} // namespace sluice::expr::jsonata::internal
