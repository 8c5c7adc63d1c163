#include <algorithm>
#include <cmath>

#include "expr/jsonata/internal/evaluator.h"
#include "expr/jsonata/internal/operators.h"
#include "expr/jsonata/internal/raise.h"

namespace sluice::expr::jsonata::internal {
namespace {

/// Arrays vanish into a sequence, unless they were written as such.
void add_flat(const Item& item, Array& out, Arena& arena) {
    if (!item.is_array() || (item.type == Type::Array && item.array->is_constructed)) {
        out.push(arena, item);
        return;
    }
    auto items = Items{item, arena};
    out.reserve(arena, out.size + items.size());
    for (auto i = std::size_t{0}; i < items.size(); ++i) {
        out.push(arena, items[i]);
    }
}

bool is_constructed(const Item& item) {
    return item.type == Type::Array && item.array->is_constructed;
}

} // namespace

Item Evaluator::evaluate_path(const Node& path, const Item& input, Frame* frame) {
    const auto& steps = path.children;
    auto inputs = steps[0]->kind == Kind::Variable ? Items::one(input, arena_)
                                                   : Items{input, arena_};
    auto result = Item{};
    auto at = std::size_t{0};
    auto is_tuple = false;
    if (path.external != 0) {
        result = evaluate_external(path.external);
        at = result.is_undefined() ? 0 : path.external_steps;
        inputs = at == 0 ? inputs : Items{result, arena_};
    }
    for (; at < steps.size(); ++at) {
        const auto& step = *steps[at];
        is_tuple |= step.is_tuple;
        if (at == 0 && step.is_constructor) {
            auto whole = input.is_array() ? input : Item::of(make_sequence(arena_, input));
            result = evaluate(step, whole, frame);
        } else if (is_tuple) {
            result = evaluate_tuple_path(path, at, inputs, frame);
            break;
        } else {
            result = evaluate_step(step, inputs, frame, at + 1 == steps.size());
        }
        if (result.is_undefined()) {
            break;
        }
        if (result.is_array() && size_of(result) == 0) {
            // Written or stored, an empty array is a value; on the way it is nothing.
            result = at + 1 < steps.size() ? Item{} : result;
            break;
        }
        inputs = Items{result, arena_};
    }
    auto is_stream = result.type == Type::Array && result.array->is_tuple_stream;
    if (is_stream && !path.is_tuple && path.group == nullptr) {
        auto* values = make_sequence(arena_);
        for (auto i = std::size_t{0}; i < result.array->size; ++i) {
            values->push(arena_, result.array->items[i].tuple->context);
        }
        result = Item::of(values);
    }
    if (path.keeps_singleton && !result.is_undefined()) {
        if (!result.is_array() || (is_constructed(result) && !result.array->is_sequence)) {
            result = Item::of(make_sequence(arena_, result));
        }
        if (result.type == Type::Array) {
            result.array->keeps_singleton = true;
        }
    }
    return path.group == nullptr ? result : group(*path.group, result, frame);
}

/// The results of a step for each of its inputs, flattened. A single result that is no array stands
/// for the sequence of it.
Item Evaluator::evaluate_step(const Node& step, const Items& inputs, Frame* frame, bool is_last) {
    if (step.kind == Kind::Sort) {
        auto result = sort(step, inputs, frame, false);
        for (const auto& stage : step.stages) {
            result = filter(*stage.filter, result, frame);
        }
        return result;
    }
    auto first = Item{};
    Array* out = nullptr;
    for (auto i = std::size_t{0}; i < inputs.size(); ++i) {
        auto result = evaluate_one(step, inputs[i], frame);
        if (result.is_undefined()) {
            continue;
        }
        if (out != nullptr) {
            add_flat(result, *out, arena_);
        } else if (first.is_undefined()) {
            first = result;
        } else {
            out = make_sequence(arena_);
            add_flat(first, *out, arena_);
            add_flat(result, *out, arena_);
        }
    }
    if (out != nullptr) {
        return Item::of(out);
    }
    if (!first.is_array() || (is_last && !is_sequence(first))) {
        return first;
    }
    if (!is_last && !is_constructed(first)) {
        return first;
    }
    auto* copy = make_sequence(arena_);
    add_flat(first, *copy, arena_);
    return Item::of(copy);
}

Item Evaluator::evaluate_one(const Node& step, const Item& input, Frame* frame) {
    if (step.kind == Kind::Name && !step.has_frills && input.is_object()) {
        spend(1);
        auto found = member_of(input, step.text, arena_);
        if (step.stages.empty()) {
            return found;
        }
        for (const auto& stage : step.stages) {
            found = filter(*stage.filter, found, frame);
        }
        return found;
    }
    auto result = evaluate(step, input, frame);
    for (const auto& stage : step.stages) {
        result = filter(*stage.filter, result, frame);
    }
    return result;
}

Item Evaluator::lookup(const Item& input, const Node& name) {
    if (!input.is_array()) {
        return member_of(input, name.text, arena_);
    }
    auto* found = make_sequence(arena_);
    auto items = Items{input, arena_};
    spend(items.size());
    for (auto i = std::size_t{0}; i < items.size(); ++i) {
        auto item = items[i];
        if (item.is_array() && ++depth_ > depth_max_) {
            raise("U1001", "a value is nested too deep");
        }
        auto result = lookup(item, name);
        depth_ -= item.is_array() ? 1 : 0;
        if (!result.is_undefined()) {
            auto parts = Items{result, arena_};
            for (auto j = std::size_t{0}; j < parts.size(); ++j) {
                found->push(arena_, parts[j]);
            }
        }
    }
    return Item::of(found);
}

/// How often an item is picked: a predicate gives a truth, an index, or several.
std::size_t Evaluator::count_selections(const Item& verdict, std::size_t index, std::size_t size) {
    auto is_index = [&](const Item& item) {
        auto at = std::floor(item.as_double());
        return (at < 0 ? at + static_cast<double>(size) : at) == static_cast<double>(index);
    };
    if (verdict.is_number()) {
        return is_finite_number(verdict) && is_index(verdict) ? 1 : 0;
    }
    if (!verdict.is_array()) {
        return truth_of(verdict, arena_) ? 1 : 0;
    }
    auto items = Items{verdict, arena_};
    auto count = std::size_t{0};
    spend(items.size() / 16);
    for (auto i = std::size_t{0}; i < items.size(); ++i) {
        if (!items[i].is_number()) {
            return truth_of(verdict, arena_) ? 1 : 0;
        }
        count += is_index(items[i]) ? 1 : 0;
    }
    return count;
}

Item Evaluator::filter(const Node& predicate, const Item& input, Frame* frame) {
    auto items = Items{input, arena_};
    auto is_stream = input.type == Type::Array && input.array->is_tuple_stream;
    if (predicate.kind == Kind::Number) {
        auto index = std::floor(predicate.constant.as_double());
        index += index < 0 ? static_cast<double>(items.size()) : 0;
        auto is_there = index >= 0 && index < static_cast<double>(items.size());
        auto item = is_there ? items[static_cast<std::size_t>(index)] : Item{};
        if (item.is_array()) {
            return item;
        }
        auto* picked = make_sequence(arena_);
        picked->is_tuple_stream = is_stream;
        if (!item.is_undefined()) {
            picked->push(arena_, item);
        }
        return Item::of(picked);
    }
    if (!input.is_array()) {
        return count_selections(evaluate(predicate, input, frame), 0, 1) > 0 ? input : Item{};
    }
    auto* picked = make_sequence(arena_);
    picked->is_tuple_stream = is_stream;
    for (auto i = std::size_t{0}; i < items.size(); ++i) {
        auto item = items[i];
        auto verdict = is_stream
                           ? evaluate(predicate, item.tuple->context, frame_of(*item.tuple, frame))
                           : evaluate(predicate, item, frame);
        for (auto count = count_selections(verdict, i, items.size()); count > 0; --count) {
            picked->push(arena_, item);
        }
    }
    return Item::of(picked);
}

} // namespace sluice::expr::jsonata::internal
