#pragma once

#include <span>
#include <string>
#include <string_view>

#include "expr/cel/internal/lexer.h"
#include "expr/cel/internal/tree.h"
#include "expr/program.h"

namespace sluice::expr::cel::internal {

inline constexpr std::size_t nesting_max = 64;

/// What an expression may name, and how strictly it is looked at.
struct Reading {
    const CompileOptions& options;
    std::span<const std::string> variables; ///< Handed in as cells; names may have dots.
    std::string_view container;             ///< Names are looked for in it first.
    /// Unknown names and functions, and kinds that do not fit, become faults of the evaluation,
    /// which `||` may absorb.
    bool is_lenient = false;
};

/// `tokens` are those of `source`, of which they may be a part; positions are those in `source`.
Parsed<Tree> parse(std::string_view source, std::span<const Token> tokens, const Reading& reading);

} // namespace sluice::expr::cel::internal
