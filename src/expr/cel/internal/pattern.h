#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "expr/cel/internal/refusal.h"
#include "expr/cel/internal/tree.h"
#include "expr/meter.h"
#include "expr/program.h"

namespace sluice::expr::cel::internal {

/// A stretch of a text: an expression, or what stands between expressions.
struct Piece {
    std::string literal;
    std::optional<Tree> expression;
};

/// A template's pattern, its expressions compiled. What holds none is kept whole as a constant.
struct Pattern {
    enum class Form : std::uint8_t { Constant, Text, List, Map };

    Form form = Form::Constant;
    Value constant;
    std::string where; ///< Of a text: its place in the pattern, "items[2].name".
    std::vector<Piece> pieces;
    std::vector<std::string> keys;
    std::vector<Pattern> items;
};

/// A fault names the text, its position is the byte in it.
Parsed<Pattern> compile_pattern(const Value& value, const CompileOptions& options);

/// The list or map that a pattern of that form makes of these items.
Value assemble(const Pattern& pattern, std::vector<Value> items);

/// The value that the pattern stands for.
Outcome fill(const Pattern& pattern, const Bindings& bindings, const Budget& budget);

} // namespace sluice::expr::cel::internal
