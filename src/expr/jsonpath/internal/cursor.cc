#include "expr/jsonpath/internal/cursor.h"

#include <charconv>
#include <cstdlib>

#include "base/result.h"
#include "base/utf8.h"
#include "expr/jsonpath/internal/filter_limits.h"

namespace sluice::expr::jsonpath::internal {
namespace {

constexpr auto integer_max = (std::int64_t{1} << 53) - 1;

bool is_high_surrogate(std::uint32_t code) {
    return code >= 0xD800 && code <= 0xDBFF;
}

bool is_low_surrogate(std::uint32_t code) {
    return code >= 0xDC00 && code <= 0xDFFF;
}

} // namespace

bool Cursor::take(std::string_view wanted) {
    if (!rest().starts_with(wanted)) {
        return false;
    }
    at_ += wanted.size();
    return true;
}

void Cursor::skip_blanks() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') {
        ++at_;
    }
}

Parsed<void> Cursor::expect(std::string_view wanted, std::string_view why) {
    if (!take(wanted)) {
        return expected(fmt::format("{} {}", wanted, why));
    }
    return {};
}

std::unexpected<Fault> Cursor::expected(std::string_view what) const {
    if (is_at_end()) {
        return fault_at(at_, "expected {}, found the end", what);
    }
    auto size = decode_utf8(rest()).size;
    return fault_at(at_, "expected {}, found '{}'", what, text_.substr(at_, size));
}

std::size_t Cursor::digits() {
    auto begin = at_;
    while (is_digit(peek())) {
        ++at_;
    }
    return at_ - begin;
}

Parsed<std::int64_t> Cursor::integer() {
    auto begin = at_;
    auto is_negative = take("-");
    auto first = peek();
    auto count = digits();
    if (count == 0) {
        return expected("an integer");
    }
    if (first == '0' && (count > 1 || is_negative)) {
        return fault_at(begin, "expected an integer without leading zeros or -0");
    }
    auto number = std::int64_t{0};
    auto read = std::from_chars(text_.data() + begin, text_.data() + at_, number);
    if (read.ec != std::errc{} || number > integer_max || number < -integer_max) {
        return fault_at(begin, "expected an integer between -{0} and {0}", integer_max);
    }
    return number;
}

Parsed<std::optional<std::int64_t>> Cursor::bound() {
    skip_blanks();
    auto made = std::optional<std::int64_t>{};
    if (peek() == '-' || is_digit(peek())) {
        made = TRY(integer());
        skip_blanks();
    }
    return made;
}

Parsed<Value> Cursor::number() {
    auto begin = at_;
    take("-");
    auto first = peek();
    auto count = digits();
    if (count == 0) {
        return expected("a digit");
    }
    if (first == '0' && count > 1) {
        return fault_at(begin, "expected a number without leading zeros");
    }
    auto is_integer = true;
    if (take(".")) {
        is_integer = false;
        if (digits() == 0) {
            return expected("a digit behind the point");
        }
    }
    if (peek() == 'e' || peek() == 'E') {
        is_integer = false;
        advance();
        if (peek() == '+' || peek() == '-') {
            advance();
        }
        if (digits() == 0) {
            return expected("a digit of the exponent");
        }
    }
    auto whole = std::int64_t{0};
    const auto* end = text_.data() + at_;
    if (is_integer && std::from_chars(text_.data() + begin, end, whole).ec == std::errc{}) {
        return Value{whole};
    }
    auto number = 0.0;
    if (std::from_chars(text_.data() + begin, end, number).ec == std::errc::result_out_of_range) {
        // Too small to tell from zero, or too large: from_chars leaves it to us which.
        number = std::strtod(std::string{text_.data() + begin, end}.c_str(), nullptr);
    }
    return Value{number};
}

Parsed<std::string> Cursor::quoted() {
    auto begin = at_;
    auto quote = peek();
    advance();
    auto out = std::string{};
    while (!is_at_end()) {
        auto c = peek();
        if (c == quote) {
            advance();
            return out;
        }
        if (static_cast<unsigned char>(c) < 0x20) {
            return fault_at(at_, "control characters in a string are written \\u{:04x}",
                            static_cast<unsigned>(c));
        }
        advance();
        if (c == '\\') {
            TRY(escape(quote, out));
        } else {
            out += c;
        }
    }
    return fault_at(begin, "the string has no end: expected a closing {}", quote);
}

Parsed<void> Cursor::escape(char quote, std::string& out) {
    constexpr auto letters = std::string_view{"bfnrt/\\"};
    constexpr auto meanings = std::string_view{"\b\f\n\r\t/\\"};
    auto c = peek();
    if (c == 'u') {
        return unicode_escape(out);
    }
    if (auto at = letters.find(c); at != std::string_view::npos && !is_at_end()) {
        out += meanings[at];
    } else if (c == quote && !is_at_end()) {
        out += c;
    } else {
        return expected(fmt::format("one of b f n r t / \\ u {} behind \\", quote));
    }
    advance();
    return {};
}

Parsed<void> Cursor::unicode_escape(std::string& out) {
    advance();
    auto begin = at_;
    auto code = TRY(hexadecimal());
    if (is_high_surrogate(code)) {
        auto low = take("\\u") ? TRY(hexadecimal()) : 0;
        if (!is_low_surrogate(low)) {
            return fault_at(begin, "expected a low surrogate \\uDC00 to \\uDFFF behind a high one");
        }
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (is_low_surrogate(code)) {
        return fault_at(begin, "a low surrogate stands alone: expected a high one before it");
    }
    append_utf8(code, out);
    return {};
}

Parsed<std::uint32_t> Cursor::hexadecimal() {
    auto code = std::uint32_t{0};
    auto four = rest().substr(0, 4);
    auto read = std::from_chars(four.data(), four.data() + four.size(), code, 16);
    if (four.size() < 4 || read.ptr != four.data() + four.size()) {
        return expected("four hexadecimal digits");
    }
    advance(4);
    return code;
}

Parsed<Selector> parse_index_or_slice(Cursor& cursor) {
    auto start = TRY(cursor.bound());
    if (!cursor.take(":")) {
        return Index{start.value_or(0)};
    }
    auto slice = Slice{.start = start, .end = TRY(cursor.bound())};
    if (cursor.take(":")) {
        slice.step = TRY(cursor.bound()).value_or(1);
    }
    return slice;
}

Parsed<void> check_text(std::string_view text) {
    if (text.size() > path_bytes_max) {
        return Cursor::fault_at(0, "a path has at most {} bytes, found {}", path_bytes_max,
                                text.size());
    }
    if (auto valid = valid_utf8_prefix(text); valid != text.size()) {
        return Cursor::fault_at(valid, "the path is no UTF-8 here");
    }
    return {};
}

} // namespace sluice::expr::jsonpath::internal
