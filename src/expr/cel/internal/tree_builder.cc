#include "expr/cel/internal/tree_builder.h"

#include <algorithm>

namespace sluice::expr::cel::internal {

using value::Kind;

NodeId TreeBuilder::node(Op op, std::size_t position, KindSet kinds,
                         std::span<const NodeId> operands, std::uint32_t detail) {
    tree_.nodes.push_back({.op = op,
                           .kinds = kinds,
                           .position = static_cast<std::uint32_t>(position),
                           .detail = detail,
                           .first_operand = static_cast<std::uint32_t>(tree_.operands.size()),
                           .operand_count = static_cast<std::uint32_t>(operands.size())});
    tree_.operands.insert(tree_.operands.end(), operands.begin(), operands.end());
    return static_cast<NodeId>(tree_.nodes.size() - 1);
}

NodeId TreeBuilder::constant(std::size_t position, Value value) {
    auto kinds = only(value.kind());
    tree_.constants.push_back(std::move(value));
    return node(Op::Constant, position, kinds, {},
                static_cast<std::uint32_t>(tree_.constants.size() - 1));
}

NodeId TreeBuilder::path(std::size_t position, std::string_view root) {
    tree_.paths.emplace_back();
    auto id =
        node(Op::Path, position, any_kind, {}, static_cast<std::uint32_t>(tree_.paths.size() - 1));
    append(id, std::string{root}, false);
    return id;
}

NodeId TreeBuilder::member(std::size_t position, std::string_view name) {
    tree_.names.emplace_back(name);
    return node(Op::Member, position, any_kind, {},
                static_cast<std::uint32_t>(tree_.names.size() - 1));
}

NodeId TreeBuilder::list(std::size_t position, std::span<const NodeId> items) {
    if (!are_constant(items)) {
        return node(Op::List, position, only(Kind::List), items);
    }
    auto values = std::vector<Value>{};
    for (auto item : items) {
        values.push_back(constant_of(item));
    }
    return constant(position, Value::list(std::move(values)));
}

NodeId TreeBuilder::map(std::size_t position, std::span<const NodeId> entries) {
    if (are_constant(entries)) {
        auto members = std::vector<value::Member>{};
        for (auto i = std::size_t{0}; i < entries.size(); i += 2) {
            members.push_back(
                {std::string{constant_of(entries[i]).as_string()}, constant_of(entries[i + 1])});
        }
        auto map = Value::map(std::move(members));
        // A repeated key is an error of the evaluation, which `||` may absorb.
        if (map.size() == entries.size() / 2) {
            return constant(position, std::move(map));
        }
    }
    return node(Op::Map, position, only(Kind::Map), entries);
}

NodeId TreeBuilder::chain(NodeId first, std::span<const NodeId> steps) {
    if (steps.empty()) {
        return first;
    }
    auto operands = std::vector<NodeId>{first};
    operands.insert(operands.end(), steps.begin(), steps.end());
    auto last = tree_.nodes[steps.back()];
    return node(Op::Chain, tree_.nodes[first].position, last.kinds, operands);
}

bool TreeBuilder::extend(NodeId id, std::string_view member) {
    if (tree_.nodes[id].op != Op::Path) {
        return false;
    }
    append(id, std::string{member}, true);
    return true;
}

bool TreeBuilder::extend(NodeId id, NodeId index) {
    if (tree_.nodes[id].op != Op::Path || tree_.nodes[index].op != Op::Constant) {
        return false;
    }
    const auto& key = constant_of(index);
    if (key.is_int() && key.as_int() >= 0) {
        append(id, std::to_string(key.as_int()), false);
        return true;
    }
    if (!key.is_string()) {
        return false;
    }
    auto text = key.as_string();
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
    tree_.paths[tree_.nodes[id].detail].text = text;
}

bool TreeBuilder::ask_for_presence(NodeId id) {
    auto& node = tree_.nodes[id];
    if (node.op == Op::Path && tree_.paths[node.detail].ends_in_member) {
        node.op = Op::HasPath;
        node.kinds = only(Kind::Bool);
        return true;
    }
    if (node.op != Op::Chain) {
        return false;
    }
    auto& last = tree_.nodes[tree_.operands_of(node).back()];
    if (last.op != Op::Member) {
        return false;
    }
    last.op = Op::HasMember;
    node.kinds = only(Kind::Bool);
    return true;
}

bool TreeBuilder::are_constant(std::span<const NodeId> ids) const {
    return std::ranges::all_of(ids, [&](auto id) { return tree_.nodes[id].op == Op::Constant; });
}

const Value& TreeBuilder::constant_of(NodeId id) const {
    return tree_.constants[tree_.nodes[id].detail];
}

Tree TreeBuilder::finish(NodeId root, std::size_t nesting) && {
    for (auto& path : tree_.paths) {
        path.views.assign(path.parts.begin(), path.parts.end());
    }
    tree_.root = root;
    tree_.nesting = nesting;
    return std::move(tree_);
}

} // namespace sluice::expr::cel::internal
