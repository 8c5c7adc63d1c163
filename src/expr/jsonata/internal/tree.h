#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "expr/jsonata/expression.h"
#include "expr/jsonata/internal/item.h"
#include "expr/jsonata/internal/regex.h"
#include "expr/jsonata/internal/signature.h"

namespace sluice::expr::jsonata::internal {

enum class Kind : std::uint8_t {
    // What an evaluator meets.
    Path,
    Name,
    String,
    Number,
    Constant, ///< true, false, null
    Wildcard,
    Descendants,
    Parent,
    Variable,
    Regex,
    Binary,
    Negate,
    ArrayOf,
    ObjectOf,
    Block,
    Condition,
    Default,  ///< `a ?: b`
    Coalesce, ///< `a ?? b`
    Bind,
    Call,
    Partial,
    Lambda,
    Apply,
    Transform,
    Sort,
    // What the parser makes and `arrange` turns into the above.
    Step,      ///< `a.b`
    Predicate, ///< `a[b]`
    Group,     ///< `a{k: v}`
    Order,     ///< `a^(b)`
    Focus,     ///< `a@$b`
    Index,     ///< `a#$b`
    Keyword,   ///< `and`, `or`, `in` in the place of a name; `?` of a partial application
};

enum class Operator : std::uint8_t {
    None,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Concatenate,
    Range,
    In,
    And,
    Or,
};

/// Where a `%` finds its value: the step that is as many levels up remembers its input under the
/// label.
struct Slot {
    std::uint32_t label = 0;
    int level = 1;
};

/// What a step does to its results: a filter, or `#` when there is no expression.
struct Stage {
    Node* filter = nullptr;
    std::uint32_t index = 0;
};

struct Node {
    Kind kind = Kind::Constant;
    Operator op = Operator::None;
    bool keeps_array = false;       ///< Followed by `[]`.
    bool keeps_singleton = false;   ///< A path with such a step.
    bool is_constructor = false;    ///< `[…]` at an end of a path.
    bool is_tuple = false;          ///< Carries tuples.
    bool is_tail = false;           ///< A call whose answer is its caller's.
    bool is_descending = false;     ///< A term of an order.
    bool has_bindings = false;      ///< A block that binds.
    bool may_be_local = true;       ///< A variable that the expression itself may bind.
    bool has_frills = false;        ///< Predicates, a group or `[]`: set when the tree is done.
    std::uint32_t position = 0;
    std::uint32_t height = 0;
    std::uint32_t name = 0;     ///< Variables and binds.
    std::uint32_t focus = 0;    ///< `@$name` of a step.
    std::uint32_t index = 0;    ///< `#$name` of a step.
    /// Of a variable from outside, or a path that starts with one: its place among what is asked
    /// for, from 1.
    std::uint32_t external = 0;
    std::uint32_t external_steps = 0; ///< How many steps of the path that answers.
    Item constant;
    std::string text;
    std::vector<Node*> children;   ///< Steps, arguments, expressions, keys and values by turns, …
    Node* body = nullptr;          ///< What is called, a lambda's body.
    std::vector<Stage> stages;     ///< Of a step.
    std::vector<Node*> predicates; ///< Of what is not a step.
    Node* group = nullptr;
    Slot* slot = nullptr;     ///< Of `%`.
    Slot* ancestor = nullptr; ///< Of a step that a `%` leads to.
    std::vector<Slot*> seeking;
    std::unique_ptr<const Signature> signature;
    std::unique_ptr<const jsonata::internal::Regex> regex;
    const Function* function = nullptr; ///< Of a variable: the function it means unless bound.
};

/// Numbers for names, from 1. Texts of `$eval` go on where the evaluation's own expression ended.
class Names {
public:
    Names() = default;
    Names(const Names&) = delete;
    Names& operator=(const Names&) = delete;

    std::uint32_t intern(std::string_view name);
    std::string_view text(std::uint32_t name) const { return texts_[name - 1]; }
    const std::deque<std::string>& texts() const { return texts_; }
    std::uint32_t make_label() { return intern("!" + std::to_string(texts_.size())); }

private:
    std::deque<std::string> texts_;
    std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

/// A compiled expression.
struct Tree {
    std::string text;
    std::deque<Node> nodes;
    std::deque<Slot> slots;
    std::deque<Function> functions;
    Node* root = nullptr;
    std::vector<std::vector<std::string>> externals; ///< What the bindings are asked for.
    bool has_lone_surrogates = false;
    Options options;
    std::vector<std::unique_ptr<const Signature>> host_signatures;
    Names names;
};

/// Names keep the numbers that they have. Raises S…
std::unique_ptr<Tree> parse(std::string_view text, const Options& options, const Names& names = {});

} // namespace sluice::expr::jsonata::internal
