#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "expr/jsonata/internal/item.h"

namespace sluice::expr::jsonata::internal {

enum class TokenKind : std::uint8_t { End, Name, Variable, String, Number, Constant, Regex, Operator };

struct Token {
    TokenKind kind = TokenKind::End;
    std::string text; ///< What a name or string stands for; an operator as written.
    Item constant;    ///< Of a number, true, false or null.
    std::string flags; ///< Of a regular expression.
    std::size_t position = 0;

    bool is(std::string_view op) const { return kind == TokenKind::Operator && text == op; }
};

/// Whether a `/` divides or begins a regular expression.
enum class Place : std::uint8_t { Prefix, Infix };

class Lexer {
public:
    explicit Lexer(std::string_view text) : text_{text} {}

    /// Raises S01xx and S03xx.
    Token next(Place place);
    bool has_lone_surrogates() const { return has_lone_surrogates_; }

private:
    void skip_blanks();
    Token read_regex();
    Token read_string(char quote);
    Token read_number();
    Token read_quoted_name();
    Token read_name();
    void read_escape(std::string& out);
    std::uint32_t read_hex(std::size_t at) const;
    void append_unit(std::uint32_t unit, std::string& out);
    std::size_t end_of_regex();
    char at(std::size_t index) const { return index < text_.size() ? text_[index] : '\0'; }

    std::string_view text_;
    std::size_t at_ = 0;
    bool has_lone_surrogates_ = false;
};

} // namespace sluice::expr::jsonata::internal
