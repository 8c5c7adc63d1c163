#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "expr/cel/internal/refusal.h"

namespace sluice::expr::cel::internal {

inline constexpr std::size_t expression_bytes_max = 64UL * 1024;

enum class TokenKind : std::uint8_t {
    End,
    Name,
    Escaped, ///< A member's name in backticks.
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Symbol,
};

/// A piece of the source, as written: texts keep their quotes, numbers their suffix.
struct Token {
    TokenKind kind = TokenKind::End;
    std::string_view text;
    std::size_t position = 0;

    bool is(std::string_view symbol) const { return kind == TokenKind::Symbol && text == symbol; }
    bool is_word(std::string_view word) const { return kind == TokenKind::Name && text == word; }
};

enum class Until : std::uint8_t {
    End,
    ClosingBrace, ///< The first `}` that closes nothing opened since the beginning.
};

/// Fails where the source is not UTF-8; whatever the others here are given is.
Parsed<void> check_encoding(std::string_view source);

/// The tokens from `begin` on, the last of kind End and placed where the expression ends.
Parsed<std::vector<Token>> tokenize(std::string_view source, std::size_t begin, Until until);

/// What a text or bytes token stands for, escapes resolved.
Parsed<std::string> unquote(const Token& token);

} // namespace sluice::expr::cel::internal
