#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "expr/jsonata/internal/evaluator.h"
#include "expr/jsonata/internal/library/builtin.h"
#include "expr/jsonata/internal/merge_sort.h"
#include "expr/jsonata/internal/operators.h"
#include "expr/jsonata/internal/raise.h"

namespace sluice::expr::jsonata::internal {
namespace {

std::vector<Item> items_of(const Call& call, const Item& item) {
    auto items = Items{item, call.arena};
    call.evaluator.spend(items.size() / 8);
    auto all = std::vector<Item>{};
    for (auto i = std::size_t{0}; i < items.size(); ++i) {
        all.push_back(items[i]);
    }
    return all;
}

Item array_of(const Call& call, const std::vector<Item>& items) {
    auto* array = make_array(call.arena);
    array->reserve(call.arena, items.size());
    for (const auto& item : items) {
        array->push(call.arena, item);
    }
    return Item::of(array);
}

Item run_count(const Call& call) {
    return Item::of(static_cast<std::int64_t>(call[0].is_undefined() ? 0 : size_of(call[0])));
}

Item run_append(const Call& call) {
    return append(call[0], call[1], call.evaluator);
}

Item run_reverse(const Call& call) {
    if (call[0].is_undefined() || size_of(call[0]) <= 1) {
        return call[0];
    }
    auto items = items_of(call, call[0]);
    std::ranges::reverse(items);
    return array_of(call, items);
}

Item run_shuffle(const Call& call) {
    if (call[0].is_undefined() || size_of(call[0]) <= 1) {
        return call[0];
    }
    auto items = items_of(call, call[0]);
    for (auto i = items.size(); i-- > 1;) {
        auto chance = call.evaluator.chance().unit();
        auto other = static_cast<std::size_t>(chance * static_cast<double>(i + 1));
        std::swap(items[i], items[std::min(other, i)]);
    }
    return array_of(call, items);
}

/// Equal items have equal hashes; those of arrays and objects are told apart by their sizes only.
std::size_t hash_of(const Item& item) {
    switch (item.type) {
        case Type::Int:
        case Type::Double: return std::hash<double>{}(item.as_double());
        case Type::String: return std::hash<std::string_view>{}(item.as_text());
        case Type::List:
        case Type::Array: return 1000 + size_of(item);
        case Type::Map:
        case Type::Object: return 2000 + Members{item}.size();
        default: return static_cast<std::size_t>(item.type);
    }
}

Item run_distinct(const Call& call) {
    if (!call[0].is_array() || size_of(call[0]) <= 1) {
        return call[0];
    }
    auto known = std::unordered_multimap<std::size_t, Item>{};
    auto* distinct = make_array(call.arena);
    distinct->is_sequence = is_sequence(call[0]);
    for (const auto& item : items_of(call, call[0])) {
        auto [first, last] = known.equal_range(hash_of(item));
        auto is_known = false;
        for (; first != last && !is_known; ++first) {
            call.evaluator.spend(1);
            is_known = is_equal(first->second, item, call.arena);
        }
        if (!is_known) {
            known.emplace(hash_of(item), item);
            distinct->push(call.arena, item);
        }
    }
    return Item::of(distinct);
}

Item run_zip(const Call& call) {
    auto lists = std::vector<Items>{};
    auto size = static_cast<std::size_t>(-1);
    for (const auto& argument : call.arguments) {
        lists.emplace_back(argument, call.arena);
        size = std::min(size, argument.is_undefined() ? 0 : lists.back().size());
    }
    auto* rows = make_array(call.arena);
    for (auto i = std::size_t{0}; i < size; ++i) {
        call.evaluator.spend(1);
        auto* row = make_array(call.arena);
        for (const auto& list : lists) {
            row->push(call.arena, list[i]);
        }
        rows->push(call.arena, Item::of(row));
    }
    return Item::of(rows);
}

Item run_sort(const Call& call) {
    if (call[0].is_undefined() || size_of(call[0]) <= 1) {
        return call[0];
    }
    auto items = items_of(call, call[0]);
    if (call[1].is_function()) {
        merge_sort(items, [&](const Item& left, const Item& right) {
            call.evaluator.spend(1);
            return truth_of(call.evaluator.call_with(*call[1].function, {left, right}, call.frame),
                            call.arena);
        });
        return array_of(call, items);
    }
    auto is_numbers = std::ranges::all_of(items, [](const Item& item) { return item.is_number(); });
    auto is_strings = std::ranges::all_of(items, [](const Item& item) { return item.is_string(); });
    if (!is_numbers && !is_strings) {
        raise("D3070",
              "the single argument form of the sort function can only be applied to an array of "
              "strings or an array of numbers. Use the second argument to specify a comparison "
              "function");
    }
    merge_sort(items, [&](const Item& left, const Item& right) {
        call.evaluator.spend(1);
        return compare(Operator::Greater, left, right, position_unknown).truth;
    });
    return array_of(call, items);
}

Item run_map(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto items = Items{call[0], call.arena};
    auto* results = make_sequence(call.arena);
    for (auto i = std::size_t{0}; i < items.size(); ++i) {
        auto index = Item::of(static_cast<std::int64_t>(i));
        auto result =
            call.evaluator.call_with(*call[1].function, {items[i], index, call[0]}, call.frame);
        if (!result.is_undefined()) {
            results->push(call.arena, result);
        }
    }
    return Item::of(results);
}

bool is_wanted(const Call& call, const Item& item, std::size_t index) {
    if (!call[1].is_function()) {
        return true;
    }
    auto place = Item::of(static_cast<std::int64_t>(index));
    return truth_of(call.evaluator.call_with(*call[1].function, {item, place, call[0]}, call.frame),
                    call.arena);
}

Item run_filter(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto items = Items{call[0], call.arena};
    auto* results = make_sequence(call.arena);
    for (auto i = std::size_t{0}; i < items.size(); ++i) {
        auto item = items[i];
        if (is_wanted(call, item, i)) {
            results->push(call.arena, item);
        }
    }
    return Item::of(results);
}

Item run_single(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto items = Items{call[0], call.arena};
    auto found = Item{};
    auto has_found = false;
    for (auto i = std::size_t{0}; i < items.size(); ++i) {
        call.evaluator.spend(1);
        auto item = items[i];
        if (!is_wanted(call, item, i)) {
            continue;
        }
        if (has_found) {
            raise("D3138",
                  "the $single() function expected exactly 1 matching result. Instead it matched "
                  "more");
        }
        found = item;
        has_found = true;
    }
    if (!has_found) {
        raise("D3139",
              "the $single() function expected exactly 1 matching result. Instead it matched 0");
    }
    return found;
}

Item run_reduce(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    if (arity_of(*call[1].function) < 2) {
        raise("D3050",
              "the second argument of reduce function must be a function with at least "
              "two arguments");
    }
    auto items = Items{call[0], call.arena};
    auto at = std::size_t{0};
    auto result = call[2];
    if (result.is_undefined() && items.size() > 0) {
        result = items[at++];
    }
    for (; at < items.size(); ++at) {
        auto index = Item::of(static_cast<std::int64_t>(at));
        result = call.evaluator.call_with(*call[1].function, {result, items[at], index, call[0]},
                                          call.frame);
    }
    return result;
}

} // namespace

std::span<const Builtin> array_builtins() {
    static constexpr auto builtins = std::to_array<Builtin>({
        {"count", "<a:n>", 1, run_count},
        {"append", "<xx:a>", 2, run_append},
        {"reverse", "<a:a>", 1, run_reverse},
        {"shuffle", "<a:a>", 1, run_shuffle},
        {"distinct", "<x:x>", 1, run_distinct},
        {"zip", "<a+>", 0, run_zip},
        {"sort", "<af?:a>", 2, run_sort},
        {"map", "<af>", 2, run_map},
        {"filter", "<af>", 2, run_filter},
        {"single", "<af?>", 2, run_single},
        {"reduce", "<afj?:j>", 3, run_reduce},
    });
    return builtins;
}

} // namespace sluice::expr::jsonata::internal
