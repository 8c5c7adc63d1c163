#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sluice::expr::cel::internal {

inline constexpr std::size_t expression_bytes_max = 64UL * 1024;

/// An error in what the author wrote; every such message ends with its place.
template <typename... Args>
std::unexpected<Error> fail_at(std::size_t position, fmt::format_string<Args...> format,
                               Args&&... args) {
    auto what = fmt::format(format, std::forward<Args>(args)...);
    return fail(Errc::InvalidInput, "{} (at byte {})", what, position);
}

enum class TokenKind : std::uint8_t { End, Name, Int, Uint, Double, String, Symbol };

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
Result<void> check_encoding(std::string_view source);

/// The tokens from `begin` on, the last of kind End and placed where the expression ends.
Result<std::vector<Token>> tokenize(std::string_view source, std::size_t begin, Until until);

/// What a text token stands for, escapes resolved.
Result<std::string> unquote(const Token& token);

} // namespace sluice::expr::cel::internal
