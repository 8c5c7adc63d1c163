#include "expr/cel/internal/evaluate.h"

#include <span>
#include <utility>
#include <vector>

#include "expr/cel/internal/arithmetic.h"
#include "expr/cel/internal/excerpt.h"
#include "expr/cel/internal/fault.h"
#include "expr/cel/internal/step.h"

namespace sluice::expr::cel::internal {
namespace {

class Evaluation {
public:
    Evaluation(const Tree& tree, const Bindings& bindings, Meter& meter)
        : tree_{tree}, bindings_{bindings}, meter_{meter} {}

    Outcome run(NodeId id) {
        const auto& node = tree_.nodes[id];
        if (!meter_.spend(1)) {
            return placed(budget_fault(), node);
        }
        switch (node.op) {
            case Op::Constant: return tree_.constants[node.detail];
            case Op::Path: return placed(path(tree_.paths[node.detail]), node);
            case Op::HasPath: return placed(has_path(tree_.paths[node.detail]), node);
            case Op::List: return list(node);
            case Op::Map: return map(node);
            case Op::Not:
            case Op::Negate: return unary(node);
            case Op::And: return connect(node, false);
            case Op::Or: return connect(node, true);
            case Op::Conditional: return conditional(node);
            default: return chain(node);
        }
    }

private:
    /// Where a fault happened is known here, not where it was found.
    static Outcome placed(Outcome outcome, const Node& node) {
        if (auto* found = std::get_if<Fault>(&outcome)) {
            found->position = node.position;
        }
        return outcome;
    }

    Outcome path(const Path& path) {
        auto value = bindings_.resolve(path.views);
        return value ? Outcome{*std::move(value)}
                     : fault("no_such_member", "there is no {}", excerpt(path.text));
    }

    Outcome has_path(const Path& path) {
        if (bindings_.resolve(path.views)) {
            return Value{true};
        }
        // CEL: only the last member may be missing, and what should hold it must be a map.
        auto holder = bindings_.resolve(std::span{path.views}.first(path.views.size() - 1));
        if (!holder) {
            return fault("no_such_member", "there is nothing that could hold {}",
                         excerpt(path.text));
        }
        return has_member(*holder, path.parts.back());
    }

    Outcome list(const Node& node) {
        auto items = std::vector<Value>{};
        items.reserve(node.operand_count);
        for (auto operand : tree_.operands_of(node)) {
            auto item = run(operand);
            if (is_fault(item)) {
                return item;
            }
            items.push_back(std::get<Value>(std::move(item)));
        }
        return Value::list(std::move(items));
    }

    Outcome map(const Node& node) {
        auto operands = tree_.operands_of(node);
        auto members = std::vector<value::Member>{};
        members.reserve(operands.size() / 2);
        for (auto i = std::size_t{0}; i < operands.size(); i += 2) {
            auto key = run(operands[i]);
            if (is_fault(key)) {
                return key;
            }
            auto member = run(operands[i + 1]);
            if (is_fault(member)) {
                return member;
            }
            members.push_back({std::string{std::get<Value>(key).as_string()},
                               std::get<Value>(std::move(member))});
        }
        auto result = Value::map(std::move(members));
        if (result.size() != operands.size() / 2) {
            return placed(fault("repeated_key", "a key stands twice in a map"), node);
        }
        return result;
    }

    Outcome unary(const Node& node) {
        auto outcome = run(tree_.operands_of(node)[0]);
        for (auto i = std::uint32_t{0}; i < node.detail && !is_fault(outcome); ++i) {
            const auto& operand = std::get<Value>(outcome);
            if (node.op == Op::Negate) {
                outcome = placed(negate(operand), node);
            } else if (operand.is_bool()) {
                outcome = Value{!operand.as_bool()};
            } else {
                outcome = placed(not_a_bool("!", operand), node);
            }
        }
        return outcome;
    }

    static Outcome not_a_bool(std::string_view where, const Value& found) {
        return fault("no_such_overload", "{} expects a bool, found {}", where,
                     to_string(found.kind()));
    }

    /// `&&` is decided by a false, `||` by a true, whatever the other operands are.
    Outcome connect(const Node& node, bool deciding) {
        auto result = Outcome{Value{!deciding}};
        for (auto operand : tree_.operands_of(node)) {
            auto outcome = run(operand);
            if (const auto* value = std::get_if<Value>(&outcome)) {
                if (!value->is_bool()) {
                    outcome =
                        placed(not_a_bool(deciding ? "||" : "&&", *value), tree_.nodes[operand]);
                } else if (value->as_bool() == deciding) {
                    return outcome;
                }
            }
            if (is_fault(outcome) && !is_fault(result)) {
                result = std::move(outcome);
            }
        }
        return result;
    }

    Outcome conditional(const Node& node) {
        auto operands = tree_.operands_of(node);
        while (operands.size() > 1) {
            auto condition = run(operands[0]);
            if (is_fault(condition)) {
                return condition;
            }
            const auto& value = std::get<Value>(condition);
            if (!value.is_bool()) {
                return placed(not_a_bool("?", value), tree_.nodes[operands[0]]);
            }
            if (value.as_bool()) {
                return run(operands[1]);
            }
            operands = operands.subspan(2);
        }
        return run(operands[0]);
    }

    Outcome chain(const Node& node) {
        auto operands = tree_.operands_of(node);
        auto outcome = run(operands[0]);
        for (auto step : operands.subspan(1)) {
            if (is_fault(outcome)) {
                return outcome;
            }
            outcome = apply_step(tree_.nodes[step], std::get<Value>(outcome));
        }
        return outcome;
    }

    Outcome apply_step(const Node& step, const Value& left) {
        auto right = Outcome{};
        if (step.operand_count > 0) {
            right = run(tree_.operands_of(step)[0]);
            if (is_fault(right)) {
                return right;
            }
        }
        auto result = meter_.spend(1) ? work(step, left, std::get<Value>(right)) : budget_fault();
        // What was computed with an exhausted meter may be wrong.
        return placed(meter_.is_exhausted() ? budget_fault() : std::move(result), step);
    }

    Outcome work(const Node& step, const Value& left, const Value& right) {
        if (step.op == Op::Member) {
            return select(left, tree_.names[step.detail]);
        }
        if (step.op == Op::HasMember) {
            return has_member(left, tree_.names[step.detail]);
        }
        return apply(step.op, left, right, meter_);
    }

    const Tree& tree_;
    const Bindings& bindings_;
    Meter& meter_;
};

} // namespace

Outcome evaluate(const Tree& tree, const Bindings& bindings, Meter& meter) {
    if (tree.nesting > meter.depth_max()) {
        meter.exhaust();
    }
    return Evaluation{tree, bindings, meter}.run(tree.root);
}

} // namespace sluice::expr::cel::internal
