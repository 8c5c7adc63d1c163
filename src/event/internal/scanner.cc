#include "event/internal/scanner.h"

#include "base/utf8.h"
#include "value/json.h"

namespace sluice::event::internal {

namespace {

bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

bool is_high_surrogate(std::uint32_t code) {
    return (code & 0xFC00U) == 0xD800;
}

bool is_low_surrogate(std::uint32_t code) {
    return (code & 0xFC00U) == 0xDC00;
}

std::uint32_t join_surrogates(std::uint32_t high, std::uint32_t low) {
    return 0x10000U + ((high & 0x3FFU) << 10U) + (low & 0x3FFU);
}

int hex_digit(char byte) {
    if (is_digit(byte)) {
        return byte - '0';
    }
    auto lower = byte | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::uint32_t hex4(std::string_view digits) {
    auto code = std::uint32_t{0};
    for (auto digit : digits.substr(0, 4)) {
        code = (code << 4U) | static_cast<std::uint32_t>(hex_digit(digit));
    }
    return code;
}

char unescaped(char escape) {
    switch (escape) {
        case 'b': return '\b';
        case 'f': return '\f';
        case 'n': return '\n';
        case 'r': return '\r';
        case 't': return '\t';
        default: return escape;
    }
}

} // namespace

void Scanner::skip_space_slowly() {
    for (; at_ < end_; ++at_) {
        if (*at_ == '\n' || *at_ == '\r') {
            has_line_break_ = true;
        } else if (*at_ != ' ' && *at_ != '\t') {
            return;
        }
    }
}

bool Scanner::read_string_slowly(String& string) {
    const auto* begin = ++at_;
    for (at_ = find_special(at_, end_); peek() != '"'; at_ = find_special(at_, end_)) {
        if (at_ == end_) {
            return set_fault("a string does not end");
        }
        if (!pass_special(string)) {
            return false;
        }
    }
    string.raw = {begin, static_cast<std::size_t>(at_ - begin)};
    ++at_;
    return true;
}

bool Scanner::pass_special(String& string) {
    string.is_plain = false;
    if (*at_ == '\\') {
        string.has_escape = true;
        return pass_escape();
    }
    if (static_cast<unsigned char>(*at_) < ' ') {
        return set_fault("a string has a control character that is not escaped");
    }
    auto size = decode_utf8({at_, static_cast<std::size_t>(end_ - at_)}).size;
    at_ += size;
    return size > 0 || set_fault("a string is not UTF-8");
}

bool Scanner::pass_escape() {
    ++at_;
    if (!take('u')) {
        if (at_ == end_ || std::string_view{"\"\\/bfnrt"}.find(*at_) == std::string_view::npos) {
            return set_fault("a string has an unknown escape");
        }
        ++at_;
        return true;
    }
    auto first = std::uint32_t{0};
    auto second = std::uint32_t{0};
    if (!read_hex4(first)) {
        return false;
    }
    if (is_low_surrogate(first)) {
        return set_fault("a string has a lone surrogate");
    }
    if (!is_high_surrogate(first)) {
        return true;
    }
    if (!take('\\') || !take('u')) {
        return set_fault("a string has a lone surrogate");
    }
    if (!read_hex4(second)) {
        return false;
    }
    return is_low_surrogate(second) || set_fault("a string has a lone surrogate");
}

bool Scanner::read_hex4(std::uint32_t& code) {
    if (end_ - at_ < 4) {
        return set_fault("a string does not end");
    }
    for (auto index = 0; index < 4; ++index) {
        if (hex_digit(at_[index]) < 0) {
            return set_fault("expected four hexadecimal digits behind \\u");
        }
    }
    code = hex4({at_, 4});
    at_ += 4;
    return true;
}

bool Scanner::pass_digits() {
    if (!is_digit(peek())) {
        return set_fault("expected a digit");
    }
    while (is_digit(peek())) {
        ++at_;
    }
    return true;
}

bool Scanner::read_number(Number& number) {
    auto begin = at_;
    number = {};
    take('-');
    if (!take('0') && !pass_digits()) {
        return false;
    }
    if (take('.')) {
        number.is_integer = false;
        if (!pass_digits()) {
            return false;
        }
    }
    auto exponent_size = std::ptrdiff_t{0};
    if (take('e') || take('E')) {
        number.is_integer = false;
        if (!take('+')) {
            take('-');
        }
        auto exponent = at_;
        if (!pass_digits()) {
            return false;
        }
        exponent_size = at_ - exponent;
    }
    number.raw = {begin, static_cast<std::size_t>(at_ - begin)};
    // Shorter ones stay far below the largest double.
    auto may_be_too_large = exponent_size > 2 || number.raw.size() > 100;
    if (may_be_too_large && !value::parse_json(number.raw)) {
        return set_fault("a number is out of range");
    }
    return true;
}

bool Scanner::read_literal(std::string_view literal) {
    auto rest = std::string_view{at_, static_cast<std::size_t>(end_ - at_)};
    if (!rest.starts_with(literal)) {
        return set_fault("expected a value");
    }
    at_ += literal.size();
    return true;
}

bool Scanner::pass_scalar() {
    auto string = String{};
    auto number = Number{};
    switch (peek()) {
        case '"': return read_string(string);
        case 't': return read_literal("true");
        case 'f': return read_literal("false");
        case 'n': return read_literal("null");
        default: break;
    }
    if (peek() != '-' && !is_digit(peek())) {
        return set_fault("expected a value");
    }
    return read_number(number);
}

// Every member passes here: a call would cost as much as the work.
[[gnu::always_inline]] inline bool Scanner::pass_name(String& name) {
    skip_space();
    if (peek() != '"') {
        return set_fault("expected a member name");
    }
    if (!read_string(name)) {
        return false;
    }
    skip_space();
    if (!take(':')) {
        return set_fault("expected ':' behind a member name");
    }
    skip_space();
    return true;
}

bool Scanner::open(IsObject& is_object, std::size_t& depth, std::size_t depth_max, bool& is_empty) {
    if (depth == depth_max) {
        return set_fault("the text is nested too deep", true);
    }
    auto name = String{};
    auto opens_object = *at_ == '{';
    is_object[depth++] = opens_object;
    ++at_;
    skip_space();
    is_empty = peek() == (opens_object ? '}' : ']');
    return is_empty || !opens_object || pass_name(name);
}

bool Scanner::close(IsObject& is_object, std::size_t& depth) {
    auto name = String{};
    for (; depth > 0; --depth) {
        auto in_object = is_object[depth - 1];
        skip_space();
        if (take(',')) {
            skip_space();
            return !in_object || pass_name(name);
        }
        if (!take(in_object ? '}' : ']')) {
            return set_fault(in_object ? "expected ',' or '}'" : "expected ',' or ']'");
        }
    }
    return true;
}

bool Scanner::skip_value(std::size_t depth_max) {
    if (peek() != '{' && peek() != '[') {
        return pass_scalar();
    }
    auto is_object = IsObject{};
    auto depth = std::size_t{0};
    do {
        auto is_empty = true;
        if (peek() == '{' || peek() == '[') {
            if (!open(is_object, depth, depth_max, is_empty)) {
                return false;
            }
            if (!is_empty) {
                continue;
            }
        } else if (!pass_scalar()) {
            return false;
        }
        if (!close(is_object, depth)) {
            return false;
        }
    } while (depth > 0);
    return true;
}

[[gnu::always_inline]] inline Scanner::Step Scanner::step(bool is_first, char open, char close,
                                                          const char* fault) {
    skip_space();
    if (is_first) {
        if (!take(open)) {
            set_fault(open == '{' ? "expected '{'" : "expected '['");
            return Step::Fault;
        }
        skip_space();
    }
    if (take(close)) {
        return Step::End;
    }
    if (!is_first && !take(',')) {
        set_fault(fault);
        return Step::Fault;
    }
    skip_space();
    return Step::Item;
}

Scanner::Step Scanner::next_member(bool is_first, String& name) {
    auto step_taken = step(is_first, '{', '}', "expected ',' or '}'");
    if (step_taken == Step::Item && !pass_name(name)) {
        return Step::Fault;
    }
    return step_taken;
}

Scanner::Step Scanner::next_item(bool is_first) {
    return step(is_first, '[', ']', "expected ',' or ']'");
}

void unescape(std::string_view raw, std::string& out) {
    while (!raw.empty()) {
        auto plain = raw.substr(0, raw.find('\\'));
        out.append(plain);
        raw.remove_prefix(plain.size());
        if (raw.empty()) {
            return;
        }
        if (raw[1] != 'u') {
            out.push_back(unescaped(raw[1]));
            raw.remove_prefix(2);
            continue;
        }
        auto code = hex4(raw.substr(2));
        raw.remove_prefix(6);
        if (is_high_surrogate(code)) {
            code = join_surrogates(code, hex4(raw.substr(2)));
            raw.remove_prefix(6);
        }
        append_utf8(code, out);
    }
}

} // namespace sluice::event::internal
