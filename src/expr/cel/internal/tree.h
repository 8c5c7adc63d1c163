#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "expr/cel/runtime/arena.h"
#include "expr/cel/runtime/cell.h"
#include "expr/cel/runtime/excerpt.h"
#include "expr/cel/runtime/function.h"

namespace re2 {
class RE2;
}

namespace sluice::expr::cel::internal {

using runtime::any_kind;
using runtime::Arena;
using runtime::Cell;
using runtime::excerpt;
using runtime::Function;
using runtime::Kind;
using runtime::KindSet;
using runtime::Machine;
using runtime::only;

enum class Op : std::uint8_t {
    Constant,  ///< detail: which constant.
    Path,      ///< detail: which path.
    HasPath,   ///< detail: which path.
    Variable,  ///< detail: which of the variables that are handed in as cells.
    Local,     ///< detail: its slot.
    Fail,      ///< detail: which failure. What is not known, where that is found out only here.
    List,      ///< Operands: the items.
    Map,       ///< Operands: key, value, key, value, …
    IfPresent, ///< An item or a map's value that may be left out; operand: the optional.
    Not,       ///< detail: how often.
    Negate,    ///< detail: how often.
    And,
    Or,
    Conditional, ///< Operands: condition, value, condition, value, …, otherwise.
    Bind,        ///< detail: slot; operands: its value, and what sees it.
    Call,        ///< detail: which function; operands: arguments. Of global ones.
    Chain,       ///< Operands: a value, then steps, each applied to what came out before it.
    // Steps. Their operands, where they have any, are the right side or the arguments.
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
    OptionalIndex,
    Member,         ///< detail: which name.
    OptionalMember, ///< detail: which name.
    HasMember,      ///< detail: which name.
    CallOn,         ///< detail: which function.
    Match,          ///< detail: which pattern.
    OrOptional,
    OrValue,
    OptionalMap,     ///< detail: slot; operand: what sees it.
    OptionalFlatMap, ///< detail: slot; operand: what sees it.
    Loop,            ///< detail: which loop; operands: a condition if it has one, and a body.
};

using NodeId = std::uint32_t;

struct Node {
    Op op = Op::Constant;
    KindSet kinds = any_kind; ///< Those that it can yield.
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

/// A macro that goes through a list or map.
struct Loop {
    enum class Kind : std::uint8_t { All, Exists, ExistsOne, List, Map, Entries };

    Kind kind = Kind::All;
    std::uint32_t slot = 0;     ///< Of the first variable; that of the second follows.
    bool has_second = false;    ///< Index or key first, then the value.
    bool has_condition = false; ///< Only what it holds for is collected.
};

struct Failure {
    std::string_view code;
    std::string message;
};

/// A compiled expression. Long chains of one operator are one node, so evaluating recurses as deep
/// as the author nested brackets and no deeper.
struct Tree {
    Tree();
    Tree(Tree&&) noexcept;
    Tree& operator=(Tree&&) noexcept;
    Tree(const Tree&) = delete;
    Tree& operator=(const Tree&) = delete;
    ~Tree();

    std::vector<Node> nodes;
    std::vector<NodeId> operands;
    std::vector<Cell> constants;
    std::vector<Path> paths;
    std::vector<std::string> names;
    std::vector<const Function*> functions;
    std::vector<std::unique_ptr<re2::RE2>> patterns;
    std::vector<Loop> loops;
    std::vector<Failure> failures;
    std::unique_ptr<Arena> arena; ///< Keeps the constants.
    std::size_t slots = 0;        ///< As many locals are alive at once.
    NodeId root = 0;
    std::size_t nesting = 0;

    std::span<const NodeId> operands_of(const Node& node) const {
        return std::span{operands}.subspan(node.first_operand, node.operand_count);
    }
};

} // namespace sluice::expr::cel::internal
