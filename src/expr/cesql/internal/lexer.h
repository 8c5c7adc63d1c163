#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "expr/program.h"

namespace sluice::expr::cesql::internal {

struct Token {
    enum class Kind : std::uint8_t {
        End,
        Word,    ///< A keyword, an attribute or a function: letters, digits, underscores.
        Integer, ///< Digits alone.
        Text,
        Sign, ///< An operator, a bracket, a comma.
    };

    Kind kind = Kind::End;
    std::string text; ///< A word in upper case; what a text literal stands for.
    std::size_t position = 0;
    std::size_t end = 0;
};

/// The last one is the end.
std::expected<std::vector<Token>, Fault> tokenize(std::string_view text);

std::unexpected<Fault> parse_fault(std::size_t position, std::string message);

} // namespace sluice::expr::cesql::internal
