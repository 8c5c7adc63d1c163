#include "expr/cel/constraints.h"

#include <optional>
#include <span>
#include <utility>

#include "expr/cel/internal/tree_code.h"
#include "expr/cel/runtime/machine.h"

namespace sluice::expr::cel {
namespace {

using internal::Node;
using internal::Op;
using internal::Tree;
using runtime::Cell;
using runtime::Kind;

/// A path compared with a constant, by one step.
struct Comparison {
    const internal::Path* path = nullptr;
    Op op = Op::Equal;
    const Cell* constant = nullptr;
};

const Cell* constant_at(const Tree& tree, const Node& node) {
    return node.op == Op::Constant ? &tree.constants[node.detail] : nullptr;
}

bool is_starts_with(const Tree& tree, const Node& step) {
    return step.op == Op::CallOn && tree.functions[step.detail]->name == "startsWith";
}

/// Nothing when it is anything else. What it costs is bounded by the size of the expression.
std::optional<Comparison> read_comparison(const Tree& tree, const Node& node) {
    if (node.op != Op::Chain || node.operand_count != 2) {
        return std::nullopt;
    }
    const auto& first = tree.nodes[tree.operands_of(node)[0]];
    const auto& step = tree.nodes[tree.operands_of(node)[1]];
    auto is_relation = step.op >= Op::Equal && step.op <= Op::In;
    if ((!is_relation && !is_starts_with(tree, step)) || step.operand_count != 1) {
        return std::nullopt;
    }
    const auto* left = &first;
    const auto* right = &tree.nodes[tree.operands_of(step)[0]];
    if (step.op == Op::Equal && left->op == Op::Constant) {
        std::swap(left, right);
    }
    const auto* constant = constant_at(tree, *right);
    if (left->op != Op::Path || constant == nullptr) {
        return std::nullopt;
    }
    return Comparison{&tree.paths[left->detail], step.op, constant};
}

bool is_scalar(const Cell& cell) {
    return cell.kind() <= Kind::String && !cell.is(Kind::Null);
}

Value value_of(const Cell& scalar) {
    switch (scalar.kind()) {
        case Kind::Bool: return scalar.as_bool();
        case Kind::Int: return scalar.as_int();
        case Kind::Uint: return scalar.as_uint();
        case Kind::Double: return scalar.as_double();
        default: return scalar.text();
    }
}

/// The constants that the path must be one of; nothing where one is no scalar.
std::optional<std::vector<Value>> constants_of(const Comparison& comparison) {
    const auto& constant = *comparison.constant;
    auto values = std::vector<Value>{};
    if (comparison.op != Op::In) {
        return is_scalar(constant) ? std::optional{std::vector{value_of(constant)}} : std::nullopt;
    }
    if (!constant.is(Kind::List) && !constant.is(Kind::Map)) {
        return std::nullopt;
    }
    for (auto at = std::size_t{0}; at < constant.size(); ++at) {
        auto item = constant.is(Kind::List) ? constant.item(at) : constant.entry(at).key;
        if (!is_scalar(item)) {
            return std::nullopt;
        }
        values.push_back(value_of(item));
    }
    return values;
}

std::optional<Constraint> constraint_of(const Comparison& comparison) {
    auto is_prefix = comparison.op == Op::CallOn;
    auto is_equality = comparison.op == Op::Equal || comparison.op == Op::In;
    auto constants = is_prefix || is_equality ? constants_of(comparison) : std::nullopt;
    if (!constants || (is_prefix && !comparison.constant->is(Kind::String))) {
        return std::nullopt;
    }
    return Constraint{.path = comparison.path->parts,
                      .form = is_prefix ? Constraint::Form::StartsWith : Constraint::Form::Equals,
                      .constants = *std::move(constants)};
}

} // namespace

std::vector<Constraint> constraints_of(const Program& program) {
    auto found = std::vector<Constraint>{};
    const auto* code = dynamic_cast<const internal::TreeCode*>(&program.code());
    if (code == nullptr) {
        return found;
    }
    const auto& tree = code->tree();
    const auto& root = tree.nodes[tree.root];
    auto operands = root.op == Op::And ? tree.operands_of(root) : std::span{&tree.root, 1};
    for (auto operand : operands) {
        const auto& node = tree.nodes[operand];
        auto comparison = read_comparison(tree, node);
        // What comes behind anything larger may not be reached within the budget.
        if (!comparison && node.op != Op::HasPath && node.op != Op::Path) {
            break;
        }
        if (auto constraint = comparison ? constraint_of(*comparison) : std::nullopt) {
            found.push_back(*std::move(constraint));
        }
    }
    return found;
}

} // namespace sluice::expr::cel
