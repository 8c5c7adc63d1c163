#include "expr/cel/internal/evaluate.h"

#include <array>
#include <utility>

#include "expr/cel/internal/evaluation.h"
#include "expr/cel/runtime/arithmetic.h"
#include "expr/cel/runtime/excerpt.h"
#include "expr/cel/runtime/select.h"

namespace sluice::expr::cel::internal {

Evaluation::Evaluation(const Tree& tree, const Surroundings& surroundings, Machine& machine)
    : tree_{tree}, surroundings_{surroundings}, machine_{machine} {
    if (tree.slots > 0) {
        locals_ = machine.arena().make<Cell>(tree.slots);
    }
    if (!tree.loops.empty()) {
        known_paths_ = machine.arena().make<const Cell*>(tree.paths.size());
    }
    if (locals_.size() < tree.slots) {
        machine.meter().exhaust();
    }
}

Cell Evaluation::run(NodeId id) {
    const auto& node = tree_.nodes[id];
    auto result = machine_.meter().spend(1) ? work(node) : machine_.budget_fault();
    // Where a fault happened is known here, not where it was found.
    if (result.is_fault() && result.note().position == FaultNote::unplaced) {
        result.note().position = node.position;
    }
    return result;
}

Cell Evaluation::work(const Node& node) {
    switch (node.op) {
        case Op::Constant: return tree_.constants[node.detail];
        case Op::Path: return path(node.detail);
        case Op::HasPath: return has_path(tree_.paths[node.detail]);
        case Op::Variable: return surroundings_.variables[node.detail];
        case Op::Local: return locals_[node.detail];
        case Op::Fail: return fail(tree_.failures[node.detail]);
        case Op::List: return list(node);
        case Op::Map: return map(node);
        case Op::IfPresent: return run(tree_.operands_of(node)[0]);
        case Op::Not:
        case Op::Negate: return unary(node);
        case Op::And: return connect(node, false);
        case Op::Or: return connect(node, true);
        case Op::Conditional: return conditional(node);
        case Op::Bind: return bind(node);
        case Op::Call: return call(node, nullptr);
        default: return chain(node);
    }
}

/// Texts may live inside the value, so it must stay where the cell looks.
Cell Evaluation::keep(Value value) {
    auto is_scalar = !value.is_string() && !value.is_bytes() && !value.is_list() && !value.is_map();
    return is_scalar ? Cell::view(value) : Cell::view(machine_.arena().keep(std::move(value)));
}

Cell Evaluation::path(std::uint32_t number) {
    if (!known_paths_.empty() && known_paths_[number] != nullptr) {
        return *known_paths_[number];
    }
    const auto& path = tree_.paths[number];
    auto value = surroundings_.bindings == nullptr ? std::nullopt
                                                   : surroundings_.bindings->resolve(path.views);
    auto found = value ? keep(*std::move(value))
                       : machine_.fault("no_such_member", "there is no {}", excerpt(path.text));
    if (!known_paths_.empty()) {
        auto room = machine_.arena().make<Cell>(1);
        if (room.empty()) {
            return machine_.budget_fault();
        }
        room[0] = found;
        known_paths_[number] = room.data();
    }
    return found;
}

Cell Evaluation::has_path(const Path& path) {
    const auto& bindings = *surroundings_.bindings;
    if (bindings.resolve(path.views)) {
        return Cell::boolean(true);
    }
    // CEL: only the last member may be missing, and what should hold it must be a map.
    auto holder = bindings.resolve(std::span{path.views}.first(path.views.size() - 1));
    return holder ? has_member(machine_, keep(*std::move(holder)), path.parts.back())
                  : machine_.fault("no_such_member", "there is nothing that could hold {}",
                                   excerpt(path.text));
}

Cell Evaluation::fail(const Failure& failure) {
    return machine_.fault(failure.code, "{}", failure.message);
}

Cell Evaluation::list(const Node& node) {
    auto items = ListBuilder{machine_};
    for (auto operand : tree_.operands_of(node)) {
        auto item = run(operand);
        if (item.is_fault()) {
            return item;
        }
        if (tree_.nodes[operand].op == Op::IfPresent) {
            if (!item.is(Kind::Optional)) {
                return machine_.no_overload("?", {&item, 1});
            }
            if (item.held() == nullptr) {
                continue;
            }
            item = *item.held();
        }
        if (!items.add(item)) {
            return machine_.budget_fault();
        }
    }
    return items.finish();
}

Cell Evaluation::map(const Node& node) {
    auto operands = tree_.operands_of(node);
    auto entries = MapBuilder{machine_};
    for (auto at = std::size_t{0}; at < operands.size(); at += 2) {
        auto key = run(operands[at]);
        if (key.is_fault()) {
            return key;
        }
        auto value = run(operands[at + 1]);
        if (value.is_fault()) {
            return value;
        }
        if (tree_.nodes[operands[at + 1]].op == Op::IfPresent) {
            if (!value.is(Kind::Optional)) {
                return machine_.no_overload("?", {&value, 1});
            }
            if (value.held() == nullptr) {
                continue;
            }
            value = *value.held();
        }
        if (auto problem = put(entries, key, value); problem.is_fault()) {
            return problem;
        }
    }
    return entries.finish();
}

/// Null, or a fault.
Cell Evaluation::put(MapBuilder& entries, const Cell& key, const Cell& value) {
    if (!is_key(key)) {
        return machine_.fault("no_such_overload",
                              "a map's keys are int, uint, bool or string, found {}",
                              name_of(key.kind()));
    }
    switch (entries.add(key, value)) {
        case MapBuilder::Added::New: return {};
        case MapBuilder::Added::Repeated:
            return machine_.fault("repeated_key", "a key stands twice in a map");
        default: return machine_.budget_fault();
    }
}

Cell Evaluation::unary(const Node& node) {
    auto result = run(tree_.operands_of(node)[0]);
    for (auto i = std::uint32_t{0}; i < node.detail && !result.is_fault(); ++i) {
        result = node.op == Op::Negate   ? negate(result, machine_)
                 : result.is(Kind::Bool) ? Cell::boolean(!result.as_bool())
                                         : not_a_bool("!", result);
    }
    return result;
}

Cell Evaluation::not_a_bool(std::string_view where, const Cell& found) {
    return machine_.fault("no_such_overload", "{} expects a bool, found {}", where,
                          name_of(found.kind()));
}

/// `&&` is decided by a false, `||` by a true, whatever the other operands are.
Cell Evaluation::connect(const Node& node, bool deciding) {
    auto result = Cell::boolean(!deciding);
    for (auto operand : tree_.operands_of(node)) {
        auto outcome = run(operand);
        if (!outcome.is_fault() && !outcome.is(Kind::Bool)) {
            outcome = not_a_bool(deciding ? "||" : "&&", outcome);
            if (outcome.note().position == FaultNote::unplaced) {
                outcome.note().position = tree_.nodes[operand].position;
            }
        } else if (!outcome.is_fault() && outcome.as_bool() == deciding) {
            return outcome;
        }
        if (outcome.is_fault() && !result.is_fault()) {
            result = outcome;
        }
    }
    return machine_.meter().is_exhausted() ? machine_.budget_fault() : result;
}

Cell Evaluation::conditional(const Node& node) {
    auto operands = tree_.operands_of(node);
    while (operands.size() > 1) {
        auto condition = run(operands[0]);
        if (condition.is_fault()) {
            return condition;
        }
        if (!condition.is(Kind::Bool)) {
            return not_a_bool("?", condition);
        }
        if (condition.as_bool()) {
            return run(operands[1]);
        }
        operands = operands.subspan(2);
    }
    return run(operands[0]);
}

Cell Evaluation::bind(const Node& node) {
    auto operands = tree_.operands_of(node);
    auto value = run(operands[0]);
    if (value.is_fault()) {
        return value;
    }
    locals_[node.detail] = value;
    return run(operands[1]);
}

Cell evaluate(const Tree& tree, NodeId node, const Surroundings& surroundings, Machine& machine) {
    if (tree.nesting > machine.meter().depth_max()) {
        machine.meter().exhaust();
    }
    auto result = Evaluation{tree, surroundings, machine}.run(node);
    return machine.meter().is_exhausted() ? machine.budget_fault() : result;
}

Outcome evaluate(const Tree& tree, const Bindings& bindings, const Budget& budget, Meter& meter) {
    auto arena = Arena{budget.memory_bytes_max};
    auto machine = Machine{meter, arena};
    auto surroundings = Surroundings{.bindings = &bindings};
    return to_outcome(evaluate(tree, tree.root, surroundings, machine), machine);
}

} // namespace sluice::expr::cel::internal
