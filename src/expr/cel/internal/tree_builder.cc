#include "expr/cel/internal/tree_builder.h"

#include <algorithm>
#include <array>

#include <re2/re2.h>

#include "expr/cel/internal/evaluate.h"
#include "expr/cel/runtime/regex.h"

namespace sluice::expr::cel::internal {
namespace {

constexpr auto constant_bytes_max = std::size_t{64} * 1024;

template <typename Items, typename Item>
std::size_t append_to(Items& items, Item&& item) {
    items.push_back(std::forward<Item>(item));
    return items.size() - 1;
}

} // namespace

Tree::Tree() = default;
Tree::Tree(Tree&&) noexcept = default;
Tree& Tree::operator=(Tree&&) noexcept = default;
Tree::~Tree() = default;

TreeBuilder::TreeBuilder() : meter_{Budget{}} {
    tree_.arena = std::make_unique<Arena>(constant_bytes_max);
}

NodeId TreeBuilder::node(Op op, std::size_t position, KindSet kinds,
                         std::span<const NodeId> operands, std::size_t detail) {
    tree_.nodes.push_back({.op = op,
                           .kinds = kinds,
                           .position = static_cast<std::uint32_t>(position),
                           .detail = static_cast<std::uint32_t>(detail),
                           .first_operand = static_cast<std::uint32_t>(tree_.operands.size()),
                           .operand_count = static_cast<std::uint32_t>(operands.size())});
    tree_.operands.insert(tree_.operands.end(), operands.begin(), operands.end());
    return static_cast<NodeId>(tree_.nodes.size() - 1);
}

NodeId TreeBuilder::constant(std::size_t position, const Cell& value) {
    return node(Op::Constant, position, only(value.kind()), {}, append_to(tree_.constants, value));
}

NodeId TreeBuilder::text(std::size_t position, std::string_view text, Kind kind) {
    const auto& kept = tree_.arena->keep(kind == Kind::String ? Value{text} : Value::bytes(text));
    return constant(position, Cell::view(kept));
}

NodeId TreeBuilder::path(std::size_t position, std::string_view root) {
    auto id = node(Op::Path, position, any_kind, {}, append_to(tree_.paths, Path{}));
    append(id, std::string{root}, false);
    return id;
}

NodeId TreeBuilder::member(Op op, std::size_t position, std::string_view name) {
    auto kinds = op == Op::OptionalMember ? only(Kind::Optional) : any_kind;
    return node(op, position, kinds, {}, append_to(tree_.names, std::string{name}));
}

NodeId TreeBuilder::fail(std::size_t position, std::string_view code, std::string message) {
    return node(Op::Fail, position, any_kind, {},
                append_to(tree_.failures, Failure{code, std::move(message)}));
}

NodeId TreeBuilder::call(Op op, std::size_t position, const Function& function,
                         std::span<const NodeId> operands) {
    return node(op, position, function.result, operands, append_to(tree_.functions, &function));
}

NodeId TreeBuilder::loop(std::size_t position, const Loop& loop, KindSet kinds,
                         std::span<const NodeId> operands) {
    return node(Op::Loop, position, kinds, operands, append_to(tree_.loops, loop));
}

Parsed<NodeId> TreeBuilder::match(std::size_t position, NodeId pattern) {
    auto compiled = runtime::make_pattern(constant_of(pattern).text());
    if (!compiled->ok()) {
        return refuse("bad_pattern", tree_.nodes[pattern].position,
                      "the pattern cannot be used: {}", compiled->error());
    }
    return node(Op::Match, position, only(Kind::Bool), {},
                append_to(tree_.patterns, std::move(compiled)));
}

NodeId TreeBuilder::in(std::size_t position, NodeId container) {
    constexpr auto list_items_max = std::size_t{8};
    auto operand = container;
    if (is_constant(container) && constant_of(container).is(Kind::List) &&
        constant_of(container).size() > list_items_max) {
        auto list = constant_of(container);
        auto machine = Machine{meter_, *tree_.arena};
        auto keys = runtime::MapBuilder{machine};
        auto at = std::size_t{0};
        while (at < list.size() && is_key(list.item(at)) &&
               keys.add(list.item(at), {}) != runtime::MapBuilder::Added::TooMany) {
            ++at;
        }
        auto set = at == list.size() ? keys.finish() : Cell{};
        operand = set.is(Kind::Map) ? constant(tree_.nodes[container].position, set) : container;
    }
    return node(Op::In, position, only(Kind::Bool), std::array{operand});
}

bool TreeBuilder::is_foldable(const Node& node) const {
    switch (node.op) {
        case Op::Constant:
        case Op::Path:
        case Op::HasPath:
        case Op::Variable:
        case Op::Local:
        case Op::Fail:
        case Op::IfPresent:
        case Op::And:
        case Op::Or:
        case Op::Conditional:
        case Op::Bind:
        case Op::Loop:
        case Op::OptionalMap:
        case Op::OptionalFlatMap: return false;
        default: return are_constant(tree_.operands_of(node));
    }
}

Parsed<NodeId> TreeBuilder::folded(NodeId id) {
    if (!is_foldable(tree_.nodes[id]) || meter_.is_exhausted()) {
        return id;
    }
    auto machine = Machine{meter_, *tree_.arena};
    auto value = evaluate(tree_, id, {}, machine);
    if (!value.is_fault()) {
        return constant(tree_.nodes[id].position, value);
    }
    if (value.note().code == "no_such_overload") {
        return refuse("no_such_overload", value.note().position, "{}", value.note().message);
    }
    return id;
}

Parsed<NodeId> TreeBuilder::chain(NodeId first, std::span<const NodeId> steps) {
    while (!steps.empty() && is_constant(first) && is_foldable(tree_.nodes[steps.front()])) {
        auto kinds = tree_.nodes[steps.front()].kinds;
        auto pair = node(Op::Chain, tree_.nodes[first].position, kinds);
        tree_.operands.insert(tree_.operands.end(), {first, steps.front()});
        tree_.nodes[pair].operand_count = 2;
        auto machine = Machine{meter_, *tree_.arena};
        auto value =
            meter_.is_exhausted() ? machine.budget_fault() : evaluate(tree_, pair, {}, machine);
        if (value.is_fault() && value.note().code == "no_such_overload") {
            return refuse("no_such_overload", value.note().position, "{}", value.note().message);
        }
        if (value.is_fault()) {
            break;
        }
        first = constant(tree_.nodes[first].position, value);
        steps = steps.subspan(1);
    }
    if (steps.empty()) {
        return first;
    }
    auto operands = std::vector<NodeId>{first};
    operands.insert(operands.end(), steps.begin(), steps.end());
    auto kinds = tree_.nodes[steps.back()].kinds;
    return node(Op::Chain, tree_.nodes[first].position, kinds, operands);
}

bool TreeBuilder::extend(NodeId id, std::string_view member) {
    if (tree_.nodes[id].op != Op::Path) {
        return false;
    }
    append(id, std::string{member}, true);
    return true;
}

bool TreeBuilder::extend(NodeId id, NodeId index) {
    if (tree_.nodes[id].op != Op::Path || !is_constant(index)) {
        return false;
    }
    const auto& key = constant_of(index);
    if (key.is(Kind::Int) && key.as_int() >= 0) {
        append(id, std::to_string(key.as_int()), false);
        return true;
    }
    if (!key.is(Kind::String)) {
        return false;
    }
    auto text = key.text();
    // In a path digits mean an index of a list, so a key that looks like one is looked up on its
    // own.
    auto is_number = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    if (is_number) {
        return false;
    }
    append(id, std::string{text}, false);
    return true;
}

void TreeBuilder::append(NodeId path, std::string part, bool is_member) {
    auto& target = tree_.paths[tree_.nodes[path].detail];
    target.parts.push_back(std::move(part));
    target.ends_in_member = is_member;
}

void TreeBuilder::set_path_text(NodeId id, std::string_view text) {
    if (tree_.nodes[id].op == Op::Path) {
        tree_.paths[tree_.nodes[id].detail].text = text;
    }
}

bool TreeBuilder::ask_for_presence(NodeId first, std::span<const NodeId> steps) {
    auto& last = tree_.nodes[steps.empty() ? first : steps.back()];
    if (last.op == Op::Path && tree_.paths[last.detail].ends_in_member) {
        last.op = Op::HasPath;
    } else if (last.op == Op::Member) {
        last.op = Op::HasMember;
    } else {
        return false;
    }
    last.kinds = only(Kind::Bool);
    return true;
}

bool TreeBuilder::are_constant(std::span<const NodeId> ids) const {
    return std::ranges::all_of(ids, [&](auto id) { return is_constant(id); });
}

Tree TreeBuilder::finish(NodeId root, std::size_t nesting, std::size_t slots) && {
    for (auto& path : tree_.paths) {
        path.views.assign(path.parts.begin(), path.parts.end());
    }
    tree_.root = root;
    tree_.nesting = nesting;
    tree_.slots = slots;
    return std::move(tree_);
}

} // namespace sluice::expr::cel::internal
