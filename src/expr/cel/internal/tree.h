#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "value/value.h"

namespace sluice::expr::cel::internal {

enum class Op : std::uint8_t {
    Constant, ///< detail: which constant.
    Path,     ///< detail: which path.
    HasPath,  ///< detail: which path.
    List,     ///< Operands: the items.
    Map,      ///< Operands: key, value, key, value, …
    Not,      ///< detail: how often.
    Negate,   ///< detail: how often.
    And,
    Or,
    Conditional, ///< Operands: condition, value, condition, value, …, otherwise.
    Chain,       ///< Operands: a value, then steps, each applied to what came out before it.
    // Steps. Their operand, where they have one, is the right side or the argument.
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    Index,
    Member,    ///< detail: which name.
    HasMember, ///< detail: which name.
    Size,
    ToString,
    ToInt,
    ToUint,
    ToDouble,
    ToBool,
    Contains,
    StartsWith,
    EndsWith,
};

/// The kinds that an expression can yield, a bit for each.
using KindSet = std::uint16_t;

constexpr KindSet only(value::Kind kind) {
    return static_cast<KindSet>(1U << static_cast<unsigned>(kind));
}

inline constexpr KindSet any_kind = 0x7ff;

using NodeId = std::uint32_t;

struct Node {
    Op op = Op::Constant;
    KindSet kinds = any_kind;
    std::uint32_t position = 0;
    std::uint32_t detail = 0;
    std::uint32_t first_operand = 0;
    std::uint32_t operand_count = 0;
};

/// A static chain such as `event.data.items[0]`: one question to the bindings, its parts laid out
/// beforehand. Not copyable, since `views` look into `parts`; moving a vector leaves its texts
/// where they are.
struct Path {
    Path() = default;
    Path(Path&&) = default;
    Path& operator=(Path&&) = default;
    Path(const Path&) = delete;
    Path& operator=(const Path&) = delete;
    ~Path() = default;

    std::vector<std::string> parts;
    std::vector<std::string_view> views;
    std::string text;
    bool ends_in_member = false;
};

/// A compiled expression. Long chains of one operator are one node, so evaluating recurses as deep
/// as the author nested brackets and no deeper.
struct Tree {
    std::vector<Node> nodes;
    std::vector<NodeId> operands;
    std::vector<Value> constants;
    std::vector<Path> paths;
    std::vector<std::string> names;
    NodeId root = 0;
    std::size_t nesting = 0;

    std::span<const NodeId> operands_of(const Node& node) const {
        return std::span{operands}.subspan(node.first_operand, node.operand_count);
    }
};

} // namespace sluice::expr::cel::internal
