#include <array>

#include "expr/cel/internal/evaluation.h"
#include "expr/cel/runtime/arithmetic.h"
#include "expr/cel/runtime/comparison.h"
#include "expr/cel/runtime/function.h"
#include "expr/cel/runtime/regex.h"
#include "expr/cel/runtime/select.h"

namespace sluice::expr::cel::internal {
namespace {

bool satisfies(Op op, std::partial_ordering order) {
    switch (op) {
        case Op::Less: return order < 0;
        case Op::LessEqual: return order <= 0;
        case Op::Greater: return order > 0;
        default: return order >= 0;
    }
}

runtime::Arithmetic arithmetic_of(Op op) {
    return static_cast<runtime::Arithmetic>(static_cast<int>(op) - static_cast<int>(Op::Add));
}

Cell compare_order(Machine& machine, Op op, const Cell& left, const Cell& right) {
    auto ordering = order(left, right, machine.meter());
    return ordering ? Cell::boolean(satisfies(op, *ordering))
                    : machine.fault("no_such_overload", "there is no order between {} and {}",
                                    name_of(left.kind()), name_of(right.kind()));
}

} // namespace

Cell Evaluation::chain(const Node& node) {
    auto operands = tree_.operands_of(node);
    auto result = run(operands[0]);
    for (auto id : operands.subspan(1)) {
        if (result.is_fault()) {
            return result;
        }
        const auto& step = tree_.nodes[id];
        result = machine_.meter().spend(1) ? apply(step, result) : machine_.budget_fault();
        if (machine_.meter().is_exhausted()) {
            result = machine_.budget_fault(); // What was computed may be wrong.
        }
        if (result.is_fault() && result.note().position == FaultNote::unplaced) {
            result.note().position = step.position;
        }
    }
    return result;
}

Cell Evaluation::apply(const Node& step, const Cell& left) {
    switch (step.op) {
        case Op::Member: return select(machine_, left, tree_.names[step.detail]);
        case Op::OptionalMember: return select_optional(machine_, left, tree_.names[step.detail]);
        case Op::HasMember: return has_member(machine_, left, tree_.names[step.detail]);
        case Op::CallOn: return call(step, &left);
        case Op::Match: return matches(machine_, *tree_.patterns[step.detail], left);
        case Op::OrOptional:
        case Op::OrValue: return apply_lazily(step, left);
        case Op::OptionalMap:
        case Op::OptionalFlatMap: return map_optional(step, left);
        case Op::Loop: return loop(step, left);
        default: return apply_binary(step, left);
    }
}

Cell Evaluation::apply_binary(const Node& step, const Cell& left) {
    auto right = run(tree_.operands_of(step)[0]);
    if (right.is_fault()) {
        return right;
    }
    switch (step.op) {
        case Op::Equal: return Cell::boolean(are_equal(left, right, machine_.meter()));
        case Op::NotEqual: return Cell::boolean(!are_equal(left, right, machine_.meter()));
        case Op::Less:
        case Op::LessEqual:
        case Op::Greater:
        case Op::GreaterEqual: return compare_order(machine_, step.op, left, right);
        case Op::In: return is_in(machine_, left, right);
        case Op::Index: return item_at(machine_, left, right);
        case Op::OptionalIndex: return item_at_optional(machine_, left, right);
        default: return compute(arithmetic_of(step.op), left, right, machine_);
    }
}

Cell Evaluation::apply_lazily(const Node& step, const Cell& left) {
    if (!left.is(Kind::Optional)) {
        return machine_.no_overload(step.op == Op::OrValue ? "orValue" : "or", {&left, 1});
    }
    if (left.held() != nullptr) {
        return step.op == Op::OrValue ? *left.held() : left;
    }
    auto other = run(tree_.operands_of(step)[0]);
    auto fits = other.is_fault() || step.op == Op::OrValue || other.is(Kind::Optional);
    return fits ? other : machine_.no_overload("or", {&other, 1});
}

Cell Evaluation::map_optional(const Node& step, const Cell& left) {
    if (!left.is(Kind::Optional)) {
        return machine_.no_overload("optMap", {&left, 1});
    }
    if (left.held() == nullptr) {
        return left;
    }
    locals_[step.detail] = *left.held();
    auto result = run(body_of(step));
    if (result.is_fault()) {
        return result;
    }
    if (step.op == Op::OptionalMap) {
        return machine_.some(result);
    }
    return result.is(Kind::Optional) ? result : machine_.no_overload("optFlatMap", {&result, 1});
}

Cell Evaluation::call(const Node& node, const Cell* receiver) {
    auto operands = tree_.operands_of(node);
    auto first = receiver == nullptr ? std::size_t{0} : std::size_t{1};
    auto count = operands.size() + first;
    auto few = std::array<Cell, 4>{};
    auto arguments =
        count <= few.size() ? std::span{few}.first(count) : machine_.arena().make<Cell>(count);
    if (arguments.size() != count) {
        return machine_.budget_fault();
    }
    if (receiver != nullptr) {
        arguments[0] = *receiver;
    }
    for (auto operand : operands) {
        arguments[first] = run(operand);
        if (arguments[first].is_fault()) {
            return arguments[first];
        }
        ++first;
    }
    auto result = tree_.functions[node.detail]->implementation(machine_, arguments);
    // Functions need not look at what they could not afford.
    return machine_.meter().is_exhausted() ? machine_.budget_fault() : result;
}

} // namespace sluice::expr::cel::internal
