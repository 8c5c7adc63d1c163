#include "expr/jsonata/internal/evaluator.h"

#include <algorithm>

#include "expr/jsonata/internal/operators.h"
#include "expr/jsonata/internal/raise.h"

namespace sluice::expr::jsonata::internal {

Evaluator::Evaluator(const Tree& tree, const Bindings& bindings, const Budget& budget,
                     const std::optional<Circumstances>& circumstances)
    : tree_{tree},
      bindings_{bindings},
      meter_{budget},
      arena_{budget.memory_bytes_max},
      depth_max_{budget.call_depth_max} {
    add_externals(tree);
    if (circumstances) {
        now_ = circumstances->now;
        chance_ = Random{circumstances->seed};
    }
}

void Evaluator::add_externals(const Tree& tree) {
    for (const auto& path : tree.externals) {
        externals_.push_back({.path = &path});
    }
}

const Value& Evaluator::hold(Value value) {
    return *held_.emplace_back(std::make_unique<const Value>(std::move(value)));
}

Item Evaluator::run(const std::optional<Value>& input) {
    auto context = Item{};
    if (input) {
        root_ = wrap(*input, arena_);
        context = root_;
        if (context.is_array()) {
            auto* outer = make_sequence(arena_, context);
            outer->is_outer = true;
            context = Item::of(outer);
        }
    }
    return evaluate(*tree_.root, context, arena_.make<Frame>());
}

void Evaluator::raise_spent() {
    raise("U1001", "more steps are needed than the budget allows; do less at once");
}

Item Evaluator::make_text(std::string_view text) {
    if (text.size() > meter_.text_bytes_max()) {
        raise("U1001", "a string of {} bytes is longer than the budget allows", text.size());
    }
    spend(text.size() / 64);
    return Item::of(arena_.copy(text));
}

Item Evaluator::evaluate(const Node& node, const Item& input, Frame* frame) {
    if (++depth_ > depth_max_) {
        raise_at(node.position, "U1001",
                 "calls are nested deeper than the budget allows; make the call the last thing "
                 "that a function does");
    }
    spend(1);
    auto result = evaluate_kind(node, input, frame);
    if (node.has_frills) {
        result = add_frills(node, result, frame);
    }
    --depth_;
    if (!is_sequence(result) || result.array->is_tuple_stream) {
        return result;
    }
    auto& sequence = *result.array;
    sequence.keeps_singleton |= node.keeps_array;
    if (sequence.size == 0) {
        return {};
    }
    return sequence.size == 1 && !sequence.keeps_singleton ? sequence.at(0) : result;
}

Item Evaluator::evaluate_kind(const Node& node, const Item& input, Frame* frame) {
    switch (node.kind) {
        case Kind::Path: return evaluate_path(node, input, frame);
        case Kind::Name: return lookup(input, node);
        case Kind::String:
        case Kind::Number:
        case Kind::Constant: return node.constant;
        case Kind::Wildcard: return evaluate_wildcard(input);
        case Kind::Descendants: return evaluate_descendants(input);
        case Kind::Parent: {
            auto cost = std::uint32_t{0};
            const auto* found = frame->find(node.slot->label, cost);
            spend(cost / 32);
            return found != nullptr ? *found : Item{};
        }
        case Kind::Variable: return evaluate_variable(node, input, frame);
        case Kind::Regex: return make_function(FunctionKind::Regex, node, input, frame);
        case Kind::Lambda: return make_function(FunctionKind::Lambda, node, input, frame);
        case Kind::Transform: return make_function(FunctionKind::Transform, node, input, frame);
        case Kind::Binary: return evaluate_binary(node, input, frame);
        case Kind::Negate: return evaluate_negate(node, input, frame);
        case Kind::ArrayOf: return evaluate_array(node, input, frame);
        case Kind::ObjectOf: return group(node, input, frame);
        case Kind::Block: return evaluate_block(node, input, frame);
        case Kind::Condition:
        case Kind::Default:
        case Kind::Coalesce: return evaluate_condition(node, input, frame);
        case Kind::Bind: return evaluate_bind(node, input, frame);
        case Kind::Call: return evaluate_call(node, input, frame, nullptr);
        case Kind::Partial: return evaluate_partial(node, input, frame);
        case Kind::Apply: return evaluate_apply(node, input, frame);
        default: return {};
    }
}

Item Evaluator::add_frills(const Node& node, Item result, Frame* frame) {
    for (const auto* predicate : node.predicates) {
        result = filter(*predicate, result, frame);
    }
    if (node.group != nullptr && node.kind != Kind::Path) {
        result = group(*node.group, result, frame);
    }
    return result;
}

Item Evaluator::evaluate_variable(const Node& node, const Item& input, Frame* frame) {
    if (node.text.empty()) {
        auto is_outer = input.type == Type::Array && input.array->is_outer;
        return is_outer ? input.array->at(0) : input;
    }
    if (node.may_be_local) {
        auto cost = std::uint32_t{0};
        const auto* found = frame->find(node.name, cost);
        spend(cost / 32);
        if (found != nullptr) {
            return *found;
        }
    }
    if (node.function != nullptr) {
        return Item::of(node.function);
    }
    if (node.text == "$") {
        return root_;
    }
    return node.external != 0 ? evaluate_external(node.external) : Item{};
}

Item Evaluator::evaluate_external(std::uint32_t external) {
    auto& known = externals_[external - 1];
    if (!known.is_asked) {
        known.is_asked = true;
        auto parts = std::vector<std::string_view>{known.path->begin(), known.path->end()};
        auto answer = bindings_.resolve(parts);
        known.value = answer ? &hold(*std::move(answer)) : nullptr;
    }
    return known.value != nullptr ? wrap(*known.value, arena_) : Item{};
}

Item Evaluator::make_function(FunctionKind kind, const Node& node, const Item& input,
                              Frame* frame) {
    auto* function = arena_.make<Function>();
    function->kind = kind;
    function->node = &node;
    function->input = input;
    function->frame = frame;
    return Item::of(function);
}

Item Evaluator::evaluate_array(const Node& node, const Item& input, Frame* frame) {
    auto result = Item::of(make_array(arena_));
    for (const auto* part : node.children) {
        auto item = evaluate(*part, input, frame);
        if (item.is_undefined()) {
            continue;
        }
        if (part->kind == Kind::ArrayOf) {
            result.array->push(arena_, item);
        } else if (item.type == Type::Array && item.array->is_range && node.children.size() == 1) {
            *result.array = *item.array; // A range stays one: it may be long.
            result.array->is_sequence = false;
            result.array->keeps_singleton = false;
        } else {
            auto items = Items{item, arena_};
            spend(items.size() / 8);
            result.array->reserve(arena_, result.array->size + items.size());
            for (auto i = std::size_t{0}; i < items.size(); ++i) {
                result.array->push(arena_, items[i]);
            }
        }
    }
    result.array->is_constructed = node.is_constructor;
    return result;
}

Item Evaluator::evaluate_block(const Node& node, const Item& input, Frame* frame) {
    auto* inner = frame;
    if (node.has_bindings) {
        inner = arena_.make<Frame>();
        inner->parent = frame;
    }
    auto result = Item{};
    for (const auto* part : node.children) {
        result = evaluate(*part, input, inner);
    }
    return result;
}

Item Evaluator::evaluate_condition(const Node& node, const Item& input, Frame* frame) {
    auto verdict = evaluate(*node.children[0], input, frame);
    if (node.kind == Kind::Coalesce) {
        return verdict.is_undefined() ? evaluate(*node.children[1], input, frame) : verdict;
    }
    auto is_true = truth_of(verdict, arena_);
    if (node.kind == Kind::Default) {
        return is_true ? verdict : evaluate(*node.children[1], input, frame);
    }
    if (is_true) {
        return evaluate(*node.children[1], input, frame);
    }
    return node.children.size() > 2 ? evaluate(*node.children[2], input, frame) : Item{};
}

Item Evaluator::evaluate_bind(const Node& node, const Item& input, Frame* frame) {
    auto value = evaluate(*node.children[0], input, frame);
    spend(frame->size / 32);
    frame->bind(arena_, node.name, value);
    return value;
}

Item Evaluator::evaluate_negate(const Node& node, const Item& input, Frame* frame) {
    auto operand = evaluate(*node.children[0], input, frame);
    if (operand.is_undefined()) {
        return operand;
    }
    if (!is_finite_number(operand)) {
        raise_at(node.position, "D1002", "cannot negate a non-numeric value");
    }
    return calculate(Operator::Subtract, Item::of(std::int64_t{0}), operand, node.position);
}

Item Evaluator::evaluate_binary(const Node& node, const Item& input, Frame* frame) {
    auto left = evaluate(*node.children[0], input, frame);
    if (node.op == Operator::And || node.op == Operator::Or) {
        auto is_true = truth_of(left, arena_);
        if (is_true == (node.op == Operator::Or)) {
            return Item::of(is_true);
        }
        return Item::of(truth_of(evaluate(*node.children[1], input, frame), arena_));
    }
    auto right = evaluate(*node.children[1], input, frame);
    switch (node.op) {
        case Operator::Equal:
        case Operator::NotEqual: {
            auto is_known = !left.is_undefined() && !right.is_undefined();
            return Item::of(is_known &&
                            is_equal(left, right, arena_) == (node.op == Operator::Equal));
        }
        case Operator::Less:
        case Operator::LessOrEqual:
        case Operator::Greater:
        case Operator::GreaterOrEqual: return compare(node.op, left, right, node.position);
        case Operator::Concatenate: {
            auto text = std::string{};
            write_text(left, false, text, *this);
            write_text(right, false, text, *this);
            return make_text(text);
        }
        case Operator::Range: return range(left, right, node.position, *this);
        case Operator::In: {
            auto items = Items{right, arena_};
            auto is_in = false;
            for (auto i = std::size_t{0}; i < items.size() && !is_in; ++i) {
                is_in = !left.is_undefined() && is_same(items[i], left);
            }
            return Item::of(is_in);
        }
        default: return calculate(node.op, left, right, node.position);
    }
}

Item Evaluator::evaluate_wildcard(const Item& input) {
    auto from = input.type == Type::Array && input.array->is_outer ? input.array->at(0) : input;
    auto result = Item::of(make_sequence(arena_));
    auto add = [&](const Item& item) {
        if (!item.is_array()) {
            result.array->push(arena_, item);
            return;
        }
        auto* flat = make_array(arena_);
        add_descendants(item, *flat, 0);
        result = append(result, Item::of(flat), *this);
    };
    if (from.is_array()) {
        auto items = Items{from, arena_};
        for (auto i = std::size_t{0}; i < items.size(); ++i) {
            add(items[i]);
        }
    } else {
        auto members = Members{from};
        for (auto i = std::size_t{0}; i < members.size(); ++i) {
            add(members.value(i, arena_));
        }
    }
    return result;
}

Item Evaluator::evaluate_descendants(const Item& input) {
    if (input.is_undefined()) {
        return input;
    }
    auto* found = make_sequence(arena_);
    auto pending = std::vector<Item>{input};
    while (!pending.empty()) {
        auto item = pending.back();
        pending.pop_back();
        spend(1);
        auto kept = pending.size();
        if (item.is_array()) {
            auto items = Items{item, arena_};
            for (auto i = std::size_t{0}; i < items.size(); ++i) {
                pending.push_back(items[i]);
            }
        } else {
            found->push(arena_, item);
            auto members = Members{item};
            for (auto i = std::size_t{0}; i < members.size(); ++i) {
                pending.push_back(members.value(i, arena_));
            }
        }
        std::reverse(pending.begin() + static_cast<std::ptrdiff_t>(kept), pending.end());
    }
    return Item::of(found);
}

/// All items of arrays within arrays.
void Evaluator::add_descendants(const Item& item, Array& out, std::size_t depth) {
    spend(1);
    if (!item.is_array()) {
        out.push(arena_, item);
        return;
    }
    if (depth > value_depth_max) {
        raise("U1001", "a value is nested deeper than {}", value_depth_max);
    }
    auto items = Items{item, arena_};
    for (auto i = std::size_t{0}; i < items.size(); ++i) {
        add_descendants(items[i], out, depth + 1);
    }
}

} // namespace sluice::expr::jsonata::internal
