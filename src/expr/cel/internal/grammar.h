#pragma once

#include <array>
#include <span>
#include <string_view>

#include "expr/cel/internal/tree.h"

namespace sluice::expr::cel::internal {

inline constexpr auto bool_only = only(Kind::Bool);
inline constexpr auto arithmetic_kinds =
    static_cast<KindSet>(any_kind & ~(only(Kind::Bool) | only(Kind::Null) | only(Kind::Map)));

struct BinaryOperator {
    std::string_view symbol;
    Op op;
};

inline constexpr auto relations = std::array{
    BinaryOperator{"==", Op::Equal},  BinaryOperator{"!=", Op::NotEqual},
    BinaryOperator{"<", Op::Less},    BinaryOperator{"<=", Op::LessEqual},
    BinaryOperator{">", Op::Greater}, BinaryOperator{">=", Op::GreaterEqual},
    BinaryOperator{"in", Op::In},
};
inline constexpr auto sums =
    std::array{BinaryOperator{"+", Op::Add}, BinaryOperator{"-", Op::Subtract}};
inline constexpr auto products =
    std::array{BinaryOperator{"*", Op::Multiply}, BinaryOperator{"/", Op::Divide},
               BinaryOperator{"%", Op::Remainder}};
/// The loosest first: each level's operands are of the next.
inline constexpr auto levels =
    std::array<std::span<const BinaryOperator>, 3>{relations, sums, products};

/// Words that name nothing.
bool is_keyword(std::string_view word);
/// Words that name no variable, though a member may have such a name.
bool is_reserved(std::string_view word);

/// What `left op right` yields if it yields anything: operands of kinds that do not fit are faults.
KindSet result_kinds(Op op, KindSet left, KindSet right);

} // namespace sluice::expr::cel::internal
