#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "expr/cesql/internal/function.h"
#include "value/value.h"

namespace sluice::expr::cesql::internal {

/// How tightly operators bind: the higher, the tighter.
enum class Level : std::uint8_t { None, Logic, Comparison, Sum, Product, In, Like, Unary };

enum class Operator : std::uint8_t {
    And,
    Or,
    Xor,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
};

struct Node {
    enum class Kind : std::uint8_t {
        Literal,
        Attribute,
        Exists,
        Not,
        Negate,
        Like,
        In,
        Call,
        Chain
    };

    Kind kind = Kind::Literal;
    Level level = Level::Logic;         ///< Of a chain.
    bool is_negated = false;            ///< NOT LIKE, NOT IN.
    const Function* function = nullptr; ///< Null when there is no such function.
    Value literal;
    std::string name;
    std::vector<std::uint32_t> pattern; ///< Of LIKE.
    std::vector<Node> parts;
    /// Operators of one level are evaluated from left to right: one node, not a tree.
    std::vector<Operator> operators;
    std::size_t position = 0;
};

} // namespace sluice::expr::cesql::internal
