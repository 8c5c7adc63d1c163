#include <algorithm>
#include <vector>

#include "expr/jsonata/internal/evaluator.h"
#include "expr/jsonata/internal/merge_sort.h"
#include "expr/jsonata/internal/operators.h"
#include "expr/jsonata/internal/raise.h"

namespace sluice::expr::jsonata::internal {
namespace {

/// What has one key: its items and the pair that made it.
struct Bucket {
    Array* items = nullptr;
    Item single;
    std::size_t pair = 0;
};

/// Several tuples as one whose bindings are arrays.
Tuple* merge_tuples(const Array& tuples, Evaluator& evaluator) {
    auto& arena = evaluator.arena();
    auto* merged = arena.make<Tuple>();
    *merged = *tuples.items[0].tuple;
    merged->bindings = arena.make_many<Binding>(merged->size);
    std::copy_n(tuples.items[0].tuple->bindings, merged->size, merged->bindings);
    for (auto i = std::size_t{1}; i < tuples.size; ++i) {
        const auto& tuple = *tuples.items[i].tuple;
        merged->context = append(merged->context, tuple.context, evaluator);
        for (auto j = 0U; j < merged->size; ++j) {
            if (const auto* value = tuple.find(merged->bindings[j].name)) {
                merged->bindings[j].value = append(merged->bindings[j].value, *value, evaluator);
            }
        }
    }
    return merged;
}

void add_to_bucket(Bucket& bucket, const Item& item, Evaluator& evaluator) {
    auto& arena = evaluator.arena();
    if (bucket.items == nullptr) {
        bucket.items = make_array(arena);
        auto first = Items{bucket.single, arena};
        for (auto i = std::size_t{0}; i < first.size(); ++i) {
            bucket.items->push(arena, first[i]);
        }
    }
    auto more = Items{item, arena};
    for (auto i = std::size_t{0}; i < more.size(); ++i) {
        bucket.items->push(arena, more[i]);
    }
}

} // namespace

Item Evaluator::group(const Node& node, const Item& input, Frame* frame) {
    auto is_stream = input.type == Type::Array && input.array->is_tuple_stream;
    auto is_empty = input.is_array() && size_of(input) == 0;
    auto inputs = is_empty ? Items{Item{}, arena_} : Items{input, arena_};
    auto* keys = arena_.make<Object>(); // Each key's value is the place of its bucket.
    auto buckets = std::vector<Bucket>{};
    buckets.reserve(node.children.size() / 2);
    for (auto i = std::size_t{0}; i < inputs.size(); ++i) {
        auto item = inputs[i];
        auto is_tuple = item.type == Type::Tuple;
        auto* inner = is_tuple ? frame_of(*item.tuple, frame) : frame;
        for (auto pair = std::size_t{0}; pair < node.children.size(); pair += 2) {
            auto key = evaluate(*node.children[pair], is_tuple ? item.tuple->context : item, inner);
            if (key.is_undefined()) {
                continue;
            }
            if (!key.is_string()) {
                raise_at(node.position, "T1003",
                         "key in object structure must evaluate to a string");
            }
            if (auto* known = keys->find(key.as_text())) {
                auto& bucket = buckets[static_cast<std::size_t>(known->value.integer)];
                if (bucket.pair != pair) {
                    raise_at(node.position, "D1009",
                             "multiple key definitions evaluate to same key: \"{}\"",
                             key.as_text());
                }
                add_to_bucket(bucket, item, *this);
            } else {
                keys->set(arena_, key.as_text(), Item::of(static_cast<std::int64_t>(buckets.size())));
                buckets.push_back({.single = item, .pair = pair});
            }
        }
    }
    auto* result = arena_.make<Object>();
    for (auto i = std::size_t{0}; i < buckets.size(); ++i) {
        const auto& bucket = buckets[i];
        auto context = bucket.items != nullptr ? Item::of(bucket.items) : bucket.single;
        auto* inner = frame;
        if (is_stream && !is_empty) {
            const auto& tuple = bucket.items != nullptr ? *merge_tuples(*bucket.items, *this)
                                                        : *bucket.single.tuple;
            context = tuple.context;
            inner = frame_of(tuple, frame);
        }
        auto value = evaluate(*node.children[bucket.pair + 1], context, inner);
        if (!value.is_undefined()) {
            result->set(arena_, keys->members[i].key, value);
        }
    }
    return Item::of(result);
}

namespace {

/// The terms of an order for one item, evaluated when first needed.
struct SortKey {
    Item item;
    std::vector<Item> terms;
};

int compare_terms(const Item& left, const Item& right, std::size_t position) {
    if (left.is_undefined() || right.is_undefined()) {
        return static_cast<int>(left.is_undefined()) - static_cast<int>(right.is_undefined());
    }
    auto is_sortable = [](const Item& item) { return item.is_string() || item.is_number(); };
    if (!is_sortable(left) || !is_sortable(right)) {
        raise_at(position, "T2008",
                 "the expressions within an order-by clause must evaluate to numeric or string "
                 "values");
    }
    if (left.is_string() != right.is_string()) {
        raise_at(position, "T2007", "type mismatch when comparing values in an order-by clause");
    }
    if (compare(Operator::Less, left, right, position).truth) {
        return -1;
    }
    return compare(Operator::Greater, left, right, position).truth ? 1 : 0;
}

} // namespace

Item Evaluator::sort(const Node& node, const Items& inputs, Frame* frame, bool is_tuples) {
    auto keys = std::vector<SortKey>(inputs.size());
    for (auto i = std::size_t{0}; i < inputs.size(); ++i) {
        keys[i].item = inputs[i];
    }
    auto term_of = [&](SortKey& key, std::size_t term) {
        if (key.terms.size() <= term) {
            const auto& expression = *node.children[term]->children[0];
            const auto& item = key.item;
            key.terms.push_back(is_tuples ? evaluate(expression, item.tuple->context,
                                                     frame_of(*item.tuple, frame))
                                          : evaluate(expression, item, frame));
        }
        return key.terms[term];
    };
    auto is_after = [&](SortKey& left, SortKey& right) {
        spend(1);
        for (auto term = std::size_t{0}; term < node.children.size(); ++term) {
            auto order = compare_terms(term_of(left, term), term_of(right, term), node.position);
            if (order != 0) {
                auto is_undefined = left.terms[term].is_undefined() || right.terms[term].is_undefined();
                auto is_turned = node.children[term]->is_descending && !is_undefined;
                return (is_turned ? -order : order) > 0;
            }
        }
        return false;
    };
    merge_sort(keys, is_after);
    auto* sorted = make_sequence(arena_);
    for (const auto& key : keys) {
        sorted->push(arena_, key.item);
    }
    return Item::of(sorted);
}

} // namespace sluice::expr::jsonata::internal
