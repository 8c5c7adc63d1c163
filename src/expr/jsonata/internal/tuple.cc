#include <algorithm>

#include "expr/jsonata/internal/evaluator.h"
#include "expr/jsonata/internal/operators.h"

namespace sluice::expr::jsonata::internal {
namespace {

/// A tuple with room for some more bindings.
Tuple* copy_of(const Tuple& tuple, Item context, std::size_t more, Arena& arena) {
    auto* copy = arena.make<Tuple>();
    copy->context = context;
    copy->bindings = arena.make_many<Binding>(tuple.size + more);
    copy->size = tuple.size;
    std::copy(tuple.bindings, tuple.bindings + tuple.size, copy->bindings);
    return copy;
}

void set(Tuple& tuple, std::uint32_t name, Item value) {
    auto* end = tuple.bindings + tuple.size;
    auto* found = std::find_if(tuple.bindings, end,
                               [&](const Binding& binding) { return binding.name == name; });
    *found = {name, value};
    tuple.size += found == end ? 1 : 0;
}

Array* make_stream(Arena& arena) {
    auto* stream = make_sequence(arena);
    stream->is_tuple_stream = true;
    return stream;
}

Array* stream_of(const Items& inputs, Arena& arena) {
    auto* stream = make_stream(arena);
    for (auto i = std::size_t{0}; i < inputs.size(); ++i) {
        auto* tuple = arena.make<Tuple>();
        tuple->context = inputs[i];
        stream->push(arena, Item::of(tuple));
    }
    return stream;
}

Item index_item(std::size_t index) {
    return Item::of(static_cast<std::int64_t>(index));
}

} // namespace

Item Evaluator::evaluate_tuple_path(const Node& path, std::size_t from, const Items& inputs,
                                    Frame* frame) {
    Array* tuples = nullptr;
    for (auto at = from; at < path.children.size(); ++at) {
        const auto& step = *path.children[at];
        if (step.kind == Kind::Sort) {
            tuples = sort_tuples(step, inputs, tuples, frame);
        } else {
            tuples = evaluate_tuple_step(
                step, tuples != nullptr ? *tuples : *stream_of(inputs, arena_), frame);
        }
        tuples = apply_stages(step, tuples, frame);
    }
    return Item::of(tuples);
}

Array* Evaluator::evaluate_tuple_step(const Node& step, const Array& tuples, Frame* frame) {
    auto* out = make_stream(arena_);
    for (auto i = std::size_t{0}; i < tuples.size; ++i) {
        const auto& tuple = *tuples.items[i].tuple;
        auto results = evaluate(step, tuple.context, frame_of(tuple, frame));
        if (!results.is_undefined()) {
            extend(step, tuple, results, *out);
        }
    }
    return out;
}

/// A tuple for each result of a step, with what the step adds.
void Evaluator::extend(const Node& step, const Tuple& tuple, const Item& results, Array& out) {
    auto items = Items{results, arena_};
    for (auto i = std::size_t{0}; i < items.size(); ++i) {
        spend(1);
        auto item = items[i];
        if (item.type == Type::Tuple) {
            auto* joined = copy_of(tuple, item.tuple->context, item.tuple->size, arena_);
            for (auto j = 0U; j < item.tuple->size; ++j) {
                set(*joined, item.tuple->bindings[j].name, item.tuple->bindings[j].value);
            }
            out.push(arena_, Item::of(joined));
            continue;
        }
        auto* next = copy_of(tuple, step.focus != 0 ? tuple.context : item, 3, arena_);
        if (step.focus != 0) {
            set(*next, step.focus, item);
        }
        if (step.index != 0) {
            set(*next, step.index, index_item(i));
        }
        if (step.ancestor != nullptr) {
            set(*next, step.ancestor->label, tuple.context);
        }
        out.push(arena_, Item::of(next));
    }
}

Array* Evaluator::sort_tuples(const Node& step, const Items& inputs, const Array* tuples,
                              Frame* frame) {
    if (tuples != nullptr) {
        auto stream = Item::of(const_cast<Array*>(tuples));
        auto sorted = sort(step, Items{stream, arena_}, frame, true);
        sorted.array->is_tuple_stream = true;
        return sorted.array;
    }
    auto sorted = sort(step, inputs, frame, false);
    auto* stream = stream_of(Items{sorted, arena_}, arena_);
    for (auto i = std::size_t{0}; i < stream->size && step.index != 0; ++i) {
        auto* tuple = copy_of(*stream->items[i].tuple, stream->items[i].tuple->context, 1, arena_);
        set(*tuple, step.index, index_item(i));
        stream->items[i] = Item::of(tuple);
    }
    return stream;
}

Array* Evaluator::apply_stages(const Node& step, Array* tuples, Frame* frame) {
    for (const auto& stage : step.stages) {
        if (stage.filter != nullptr) {
            tuples = filter(*stage.filter, Item::of(tuples), frame).array;
            continue;
        }
        for (auto i = std::size_t{0}; i < tuples->size; ++i) {
            const auto& old = *tuples->items[i].tuple;
            auto* tuple = copy_of(old, old.context, 1, arena_);
            set(*tuple, stage.index, index_item(i));
            tuples->items[i] = Item::of(tuple);
        }
    }
    return tuples;
}

Frame* Evaluator::frame_of(const Tuple& tuple, Frame* parent) {
    auto* frame = arena_.make<Frame>();
    frame->parent = parent;
    for (auto i = 0U; i < tuple.size; ++i) {
        frame->bind(arena_, tuple.bindings[i].name, tuple.bindings[i].value);
    }
    return frame;
}

} // namespace sluice::expr::jsonata::internal
