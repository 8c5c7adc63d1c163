#pragma once

#include <bit>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace sluice::event::internal {

/// Depth that no text may pass, whatever its reader was told to allow.
inline constexpr std::size_t depth_max_hard = 1000;

inline bool is_special(char byte) {
    return static_cast<signed char>(byte) < ' ' || byte == 0x7F || byte == '"' || byte == '\\';
}

/// Where a plain run ends: at a quote, a backslash, a control character, DEL, what is not ASCII, or
/// `end`.
inline const char* find_special(const char* at, const char* end) {
#ifdef __SSE2__
    for (; end - at >= 16; at += 16) {
        auto bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
        auto is_quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
        auto is_backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
        // Bytes are signed here, so what is not ASCII is below the space too.
        auto is_below_space = _mm_cmplt_epi8(bytes, _mm_set1_epi8(' '));
        auto is_delete = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7F));
        auto marks = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(is_quote, is_backslash),
                                                    _mm_or_si128(is_below_space, is_delete)));
        if (marks != 0) {
            return at + std::countr_zero(static_cast<unsigned>(marks));
        }
    }
#endif
    while (at < end && !is_special(*at)) {
        ++at;
    }
    return at;
}

/// Reads strict JSON (RFC 8259, UTF-8) from left to right without building anything.
///
/// What it has passed is valid: a text that is kept as a text needs no second look. A read that
/// answers false has left a fault, and the scanner is of no more use.
class Scanner {
public:
    struct String {
        std::string_view raw; ///< Between the quotes, escapes as they are.
        bool has_escape = false;
        /// Printable ASCII without escapes: raw is the text, and no rule forbids a character of it.
        bool is_plain = true;
    };
    struct Number {
        std::string_view raw;
        bool is_integer = true; ///< Neither fraction nor exponent.
    };
    struct Fault {
        const char* what = "";
        bool is_limit = false;
    };
    enum class Step : std::uint8_t { Item, End, Fault };

    explicit Scanner(std::string_view text)
        : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

    // Between any two tokens there is a call of this, and nearly always nothing to do.
    [[gnu::always_inline]] void skip_space() {
        if (at_ < end_ && static_cast<unsigned char>(*at_) > ' ') [[likely]] {
            return;
        }
        skip_space_slowly();
    }
    /// The next byte; 0, which no valid text has here, at the end.
    char peek() const { return at_ < end_ ? *at_ : '\0'; }
    bool take(char expected) {
        if (peek() != expected) {
            return false;
        }
        ++at_;
        return true;
    }

    /// Moves behind a text that comes next, byte by byte the same.
    bool take(std::string_view expected) {
        auto is_next = static_cast<std::size_t>(end_ - at_) >= expected.size() &&
                       std::memcmp(at_, expected.data(), expected.size()) == 0;
        at_ += is_next ? expected.size() : 0;
        return is_next;
    }

    bool read_string(String& string) {
        if (peek() != '"') {
            return set_fault("expected a string");
        }
        const auto* begin = at_ + 1;
        const auto* stop = find_special(begin, end_);
        string = {{begin, static_cast<std::size_t>(stop - begin)}};
        if (stop == end_ || *stop != '"') [[unlikely]] {
            return read_string_slowly(string);
        }
        at_ = stop + 1;
        return true;
    }
    bool read_number(Number& number);
    bool read_literal(std::string_view literal);
    /// Any value, containers of containers up to the depth.
    bool skip_value(std::size_t depth_max);

    /// Moves to the next member of an object, behind its colon. Called first at the brace.
    Step next_member(bool is_first, String& name);
    /// Moves to the next item of a list. Called first at the bracket.
    Step next_item(bool is_first);
    /// Whether nothing but space is left.
    bool is_at_end() {
        skip_space();
        return at_ == end_;
    }

    const char* position() const { return at_; }
    /// What was passed since it stood there.
    std::string_view passed_since(const char* begin) const {
        return {begin, static_cast<std::size_t>(at_ - begin)};
    }
    std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }
    const Fault& fault() const { return fault_; }
    /// Whether a line break stood between tokens since the last `forget_line_breaks`.
    bool has_line_break() const { return has_line_break_; }
    void forget_line_breaks() { has_line_break_ = false; }

private:
    using IsObject = std::bitset<depth_max_hard>;

    void skip_space_slowly();
    bool read_string_slowly(String& string);
    bool pass_special(String& string);
    bool pass_escape();
    bool read_hex4(std::uint32_t& code);
    bool pass_digits();
    bool pass_scalar();
    bool pass_name(String& name);
    Step step(bool is_first, char open, char close, const char* fault);
    bool open(IsObject& is_object, std::size_t& depth, std::size_t depth_max, bool& is_empty);
    bool close(IsObject& is_object, std::size_t& depth);
    bool set_fault(const char* what, bool is_limit = false) {
        fault_ = {what, is_limit};
        return false;
    }

    const char* begin_;
    const char* at_;
    const char* end_;
    Fault fault_;
    bool has_line_break_ = false;
};

/// Appends the text of a string that a scanner has passed.
void unescape(std::string_view raw, std::string& out);

} // namespace sluice::event::internal
