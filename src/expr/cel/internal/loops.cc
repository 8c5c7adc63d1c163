#include "expr/cel/internal/evaluation.h"

namespace sluice::expr::cel::internal {

Cell Evaluation::loop(const Node& step, const Cell& range) {
    if (!range.is(Kind::List) && !range.is(Kind::Map)) {
        return machine_.fault("no_such_overload",
                              "expected a list or a map to go through, found {}",
                              name_of(range.kind()));
    }
    switch (tree_.loops[step.detail].kind) {
        case Loop::Kind::All: return decide(step, range, false);
        case Loop::Kind::Exists: return decide(step, range, true);
        case Loop::Kind::ExistsOne: return count_one(step, range);
        case Loop::Kind::List: return collect_list(step, range);
        default: return collect_map(step, range);
    }
}

void Evaluation::set_locals(const Loop& loop, const Cell& range, std::size_t at) {
    if (range.is(Kind::List)) {
        locals_[loop.slot] =
            loop.has_second ? Cell::integer(static_cast<std::int64_t>(at)) : range.item(at);
        if (loop.has_second) {
            locals_[loop.slot + 1] = range.item(at);
        }
        return;
    }
    auto entry = range.entry(at);
    locals_[loop.slot] = entry.key;
    if (loop.has_second) {
        locals_[loop.slot + 1] = entry.value;
    }
}

/// As `&&` and `||` do it: a fault is passed over when another item decides.
Cell Evaluation::decide(const Node& step, const Cell& range, bool deciding) {
    auto result = Cell::boolean(!deciding);
    for (auto at = std::size_t{0}; at < range.size(); ++at) {
        set_locals(tree_.loops[step.detail], range, at);
        auto outcome = run(body_of(step));
        if (machine_.meter().is_exhausted()) {
            return machine_.budget_fault();
        }
        if (!outcome.is_fault() && !outcome.is(Kind::Bool)) {
            outcome = not_a_bool(deciding ? "exists()" : "all()", outcome);
        } else if (!outcome.is_fault() && outcome.as_bool() == deciding) {
            return outcome;
        }
        if (outcome.is_fault() && !result.is_fault()) {
            result = outcome;
        }
    }
    return result;
}

Cell Evaluation::count_one(const Node& step, const Cell& range) {
    auto count = std::size_t{0};
    for (auto at = std::size_t{0}; at < range.size(); ++at) {
        set_locals(tree_.loops[step.detail], range, at);
        auto outcome = run(body_of(step));
        if (!outcome.is(Kind::Bool)) {
            return outcome.is_fault() ? outcome : not_a_bool("exists_one()", outcome);
        }
        count += outcome.as_bool() ? 1 : 0;
    }
    return Cell::boolean(count == 1);
}

Cell Evaluation::is_wanted(const Node& step) {
    if (!tree_.loops[step.detail].has_condition) {
        return Cell::boolean(true);
    }
    auto outcome = run(tree_.operands_of(step)[0]);
    return outcome.is_fault() || outcome.is(Kind::Bool) ? outcome : not_a_bool("a filter", outcome);
}

Cell Evaluation::collect_list(const Node& step, const Cell& range) {
    auto items = ListBuilder{machine_};
    for (auto at = std::size_t{0}; at < range.size(); ++at) {
        set_locals(tree_.loops[step.detail], range, at);
        auto wanted = is_wanted(step);
        if (wanted.is_false()) {
            continue;
        }
        auto item = wanted.is_fault() ? wanted : run(body_of(step));
        if (item.is_fault()) {
            return item;
        }
        if (!items.add(item)) {
            return machine_.budget_fault();
        }
    }
    return items.finish();
}

Cell Evaluation::collect_map(const Node& step, const Cell& range) {
    const auto& loop = tree_.loops[step.detail];
    auto entries = MapBuilder{machine_};
    for (auto at = std::size_t{0}; at < range.size(); ++at) {
        set_locals(loop, range, at);
        auto wanted = is_wanted(step);
        if (wanted.is_false()) {
            continue;
        }
        auto key = locals_[loop.slot];
        auto made = wanted.is_fault() ? wanted : run(body_of(step));
        if (made.is_fault()) {
            return made;
        }
        if (loop.kind == Loop::Kind::Map) {
            made = put(entries, key, made);
        } else if (!made.is(Kind::Map)) {
            return machine_.no_overload("transformMapEntry", {&made, 1});
        }
        for (auto each = std::size_t{0}; made.is(Kind::Map) && each < made.size(); ++each) {
            auto entry = made.entry(each);
            auto problem = put(entries, entry.key, entry.value);
            made = problem.is_fault() ? problem : made;
        }
        if (made.is_fault()) {
            return made;
        }
    }
    return entries.finish();
}

} // namespace sluice::expr::cel::internal
