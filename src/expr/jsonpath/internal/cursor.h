#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "expr/jsonpath/internal/query.h"
#include "expr/program.h"

namespace sluice::expr::jsonpath::internal {

template <typename T>
using Parsed = std::expected<T, Fault>;

inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// A place in the text of a path, and what both dialects read in the same way.
class Cursor {
public:
    explicit Cursor(std::string_view text) : text_{text} {}

    bool is_at_end() const { return at_ == text_.size(); }
    /// NUL behind the end.
    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }
    std::string_view rest() const { return text_.substr(at_); }
    std::size_t position() const { return at_; }
    void return_to(std::size_t position) { at_ = position; }
    void advance(std::size_t bytes = 1) { at_ += bytes; }
    bool take(std::string_view wanted);
    void skip_blanks();

    Parsed<void> expect(std::string_view wanted, std::string_view why);
    /// An integer as the RFC writes it: no leading zeros, no `-0`, within ±(2^53 - 1).
    Parsed<std::int64_t> integer();
    /// One with blanks around it, or just the blanks.
    Parsed<std::optional<std::int64_t>> bound();
    /// A JSON number.
    Parsed<Value> number();
    /// A string literal by the RFC's rules, from its opening quote on.
    Parsed<std::string> quoted();
    /// `uXXXX`, behind its backslash; of surrogates both.
    Parsed<void> unicode_escape(std::string& out);

    /// `expected …, found 'x'` at this place.
    std::unexpected<Fault> expected(std::string_view what) const;
    template <typename... Args>
    static std::unexpected<Fault> fault_at(std::size_t position, fmt::format_string<Args...> format,
                                           Args&&... args) {
        return std::unexpected(
            Fault{"invalid_path", fmt::format(format, std::forward<Args>(args)...), position});
    }

private:
    Parsed<std::uint32_t> hexadecimal();
    Parsed<void> escape(char quote, std::string& out);
    std::size_t digits();

    std::string_view text_;
    std::size_t at_ = 0;
};

/// `1`, `-1`, `1:5`, `::2`.
Parsed<Selector> parse_index_or_slice(Cursor& cursor);

/// Fails with `invalid_path` where the text is too long or no UTF-8.
Parsed<void> check_text(std::string_view text);

} // namespace sluice::expr::jsonpath::internal
