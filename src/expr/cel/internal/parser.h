#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "expr/cel/internal/lexer.h"
#include "expr/cel/internal/tree.h"
#include "expr/program.h"

namespace sluice::expr::cel::internal {

inline constexpr std::size_t nesting_max = 64;

/// `tokens` are those of `source`, of which they may be a part; positions are those in `source`.
Result<Tree> parse(std::string_view source, std::span<const Token> tokens,
                   const CompileOptions& options);

} // namespace sluice::expr::cel::internal
