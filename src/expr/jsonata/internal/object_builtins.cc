#include <algorithm>
#include <array>

#include "expr/jsonata/internal/builtin.h"
#include "expr/jsonata/internal/evaluator.h"
#include "expr/jsonata/internal/operators.h"
#include "expr/jsonata/internal/raise.h"
#include "expr/meter.h"

namespace sluice::expr::jsonata::internal {
namespace {

void check_nesting(std::size_t depth) {
    if (depth > value_depth_max) {
        raise("U1001", "a value is nested deeper than {}", value_depth_max);
    }
}

void add_keys(const Call& call, const Item& item, Object& keys, std::size_t depth) {
    check_nesting(depth);
    if (item.is_array()) {
        auto items = Items{item, call.arena};
        call.evaluator.spend(1 + items.size() / 8);
        for (auto i = std::size_t{0}; i < items.size(); ++i) {
            add_keys(call, items[i], keys, depth + 1);
        }
        return;
    }
    auto members = Members{item};
    call.evaluator.spend(1 + members.size() / 8);
    for (auto i = std::size_t{0}; i < members.size(); ++i) {
        keys.set(call.arena, members.key(i), Item::null());
    }
}

Item run_keys(const Call& call) {
    auto* keys = call.arena.make<Object>();
    add_keys(call, call[0], *keys, 0);
    auto* sequence = make_sequence(call.arena);
    for (auto i = 0U; i < keys->size; ++i) {
        sequence->push(call.arena, Item::of(keys->members[i].key));
    }
    return Item::of(sequence);
}

Item look_up(const Call& call, const Item& item, std::size_t depth) {
    if (!item.is_array()) {
        return member_of(item, call[1].as_text(), call.arena);
    }
    check_nesting(depth);
    auto items = Items{item, call.arena};
    call.evaluator.spend(1 + items.size() / 8);
    auto* found = make_sequence(call.arena);
    for (auto i = std::size_t{0}; i < items.size(); ++i) {
        auto result = look_up(call, items[i], depth + 1);
        if (result.is_undefined()) {
            continue;
        }
        auto parts = Items{result, call.arena};
        for (auto j = std::size_t{0}; j < parts.size(); ++j) {
            found->push(call.arena, parts[j]);
        }
    }
    return Item::of(found);
}

Item run_lookup(const Call& call) {
    return call[1].is_string() ? look_up(call, call[0], 0) : Item{};
}

void add_spread(const Call& call, const Item& item, Array& out, std::size_t depth) {
    check_nesting(depth);
    if (item.is_array()) {
        auto items = Items{item, call.arena};
        for (auto i = std::size_t{0}; i < items.size(); ++i) {
            add_spread(call, items[i], out, depth + 1);
        }
    } else if (item.is_object()) {
        auto members = Members{item};
        call.evaluator.spend(1 + members.size());
        for (auto i = std::size_t{0}; i < members.size(); ++i) {
            auto* object = call.arena.make<Object>();
            object->set(call.arena, members.key(i), members.value(i, call.arena));
            out.push(call.arena, Item::of(object));
        }
    } else if (!item.is_undefined()) {
        out.push(call.arena, item);
    }
}

Item run_spread(const Call& call) {
    if (!call[0].is_array() && !call[0].is_object()) {
        return call[0];
    }
    auto* sequence = make_sequence(call.arena);
    add_spread(call, call[0], *sequence, 0);
    return Item::of(sequence);
}

Item run_merge(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto* merged = call.arena.make<Object>();
    auto items = Items{call[0], call.arena};
    for (auto i = std::size_t{0}; i < items.size(); ++i) {
        auto members = Members{items[i]};
        call.evaluator.spend(1 + members.size() / 8);
        for (auto j = std::size_t{0}; j < members.size(); ++j) {
            merged->set(call.arena, members.key(j), members.value(j, call.arena));
        }
    }
    return Item::of(merged);
}

Item run_each(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto members = Members{call[0]};
    auto* results = make_sequence(call.arena);
    for (auto i = std::size_t{0}; i < members.size(); ++i) {
        auto result = call.evaluator.call_with(
            *call[1].function,
            {members.value(i, call.arena), Item::of(members.key(i)), call[0]}, call.frame);
        if (!result.is_undefined()) {
            results->push(call.arena, result);
        }
    }
    return Item::of(results);
}

Item run_sift(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto members = Members{call[0]};
    auto* kept = call.arena.make<Object>();
    for (auto i = std::size_t{0}; i < members.size(); ++i) {
        auto value = members.value(i, call.arena);
        auto verdict = call[1].is_function()
                           ? call.evaluator.call_with(*call[1].function,
                                                      {value, Item::of(members.key(i)), call[0]},
                                                      call.frame)
                           : value;
        if (truth_of(verdict, call.arena)) {
            kept->set(call.arena, members.key(i), value);
        }
    }
    return kept->size == 0 ? Item{} : Item::of(kept);
}

Item run_clone(const Call& call) {
    return call[0].is_undefined() ? Item{} : clone(call[0], call.evaluator);
}

std::string_view type_name(const Item& item) {
    switch (item.type) {
        case Type::Null: return "null";
        case Type::Bool: return "boolean";
        case Type::Int:
        case Type::Double: return "number";
        case Type::String: return "string";
        case Type::List:
        case Type::Array: return "array";
        case Type::Function: return "function";
        default: return "object";
    }
}

Item run_type(const Call& call) {
    return call[0].is_undefined() ? Item{} : Item::of(type_name(call[0]));
}

Item run_boolean(const Call& call) {
    return call[0].is_undefined() ? Item{} : Item::of(truth_of(call[0], call.arena));
}

Item run_not(const Call& call) {
    return call[0].is_undefined() ? Item{} : Item::of(!truth_of(call[0], call.arena));
}

Item run_exists(const Call& call) {
    return Item::of(!call[0].is_undefined());
}

Item run_error(const Call& call) {
    raise("D3137", "{}", call[0].is_string() ? call[0].as_text() : "$error() function evaluated");
}

Item run_assert(const Call& call) {
    if (!truth_of(call[0], call.arena)) {
        raise("D3141", "{}", call[1].is_string() ? call[1].as_text() : "$assert() statement failed");
    }
    return {};
}

Item run_eval(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto input = call[1].is_undefined() ? call.context : call[1];
    // An array is one input, as at the top.
    if (!call[1].is_undefined() && input.is_array() && !is_sequence(input)) {
        auto* outer = make_sequence(call.arena, input);
        outer->is_outer = true;
        input = Item::of(outer);
    }
    try {
        return call.evaluator.evaluate_text(call[0].as_text(), input, call.frame);
    } catch (Raised& raised) {
        auto& fault = raised.fault;
        if (fault.code != "U1001") {
            auto is_syntax = fault.code.starts_with('S');
            fault.message = fmt::format("{} the expression passed to function eval: {} ({})",
                                        is_syntax ? "syntax error in" : "dynamic error evaluating",
                                        fault.message, fault.code);
            fault.code = is_syntax ? "D3120" : "D3121";
        }
        fault.position = position_unknown;
        throw;
    }
}

} // namespace

std::span<const Builtin> object_builtins() {
    static constexpr auto builtins = std::to_array<Builtin>({
        {"keys", "<x-:a<s>>", 1, run_keys},
        {"lookup", "<x-s:x>", 2, run_lookup},
        {"spread", "<x-:a<o>>", 1, run_spread},
        {"merge", "<a<o>:o>", 1, run_merge},
        {"each", "<o-f:a>", 2, run_each},
        {"sift", "<o-f?:o>", 2, run_sift},
        {"clone", "<(oa)-:o>", 1, run_clone},
    });
    return builtins;
}

std::span<const Builtin> other_builtins() {
    static constexpr auto builtins = std::to_array<Builtin>({
        {"type", "<x:s>", 1, run_type},
        {"boolean", "<x-:b>", 1, run_boolean},
        {"not", "<x-:b>", 1, run_not},
        {"exists", "<x:b>", 1, run_exists},
        {"error", "<s?:x>", 1, run_error},
        {"assert", "<bs?:x>", 2, run_assert},
        {"eval", "<sx?:x>", 2, run_eval},
    });
    return builtins;
}

} // namespace sluice::expr::jsonata::internal
