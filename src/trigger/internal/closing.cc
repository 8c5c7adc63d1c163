#include "trigger/internal/closing.h"

#include <utility>
#include <vector>

#include "base/invariant.h"

namespace sluice::trigger::closing {

namespace {

void forget_members_if_none(RunState& state, Incarnation scope) {
    auto found = state.members.find(scope);
    if (found != state.members.end() && found->second.is_empty()) {
        state.members.erase(found);
    }
}

template <typename Has>
void erase_continuations(RunState& state, Has has_ended) {
    for (auto it = state.continuations.begin(); it != state.continuations.end();) {
        if (!has_ended(it->second)) {
            ++it;
            continue;
        }
        state.mark({.table = Table::Continuation, .first = it->first});
        state.mark({.table = Table::ContinuationNext, .first = it->first});
        state.continuation_next.erase(it->first);
        it = state.continuations.erase(it);
    }
}

void erase_hold(RunState& state, Incarnation scope) {
    if (state.holds.erase(scope) > 0) {
        state.mark({.table = Table::Hold, .first = scope.raw()});
    }
}

void detach(RunState& state, Incarnation parent, const std::string& path) {
    if (auto found = state.members.find(parent); found != state.members.end()) {
        found->second.children.erase(path);
        forget_members_if_none(state, parent);
    }
}

/// What was sent to a sink before still leaves, and its next attempt waits for this one.
bool outlives_root(const RunState& state, const TimerState& timer) {
    return timer.purpose == TimerPurpose::Retry && state.tasks.contains(timer.task);
}

} // namespace

void erase_task(RunState& state, const TaskKey& key) {
    auto found = state.tasks.find(key);
    if (found == state.tasks.end()) {
        return;
    }
    auto scope = found->second.scope;
    state.members[scope].tasks.erase(key);
    forget_members_if_none(state, scope);
    state.tasks.erase(found);
    state.mark({.table = Table::Task, .first = key.fire.raw(), .second = key.index});
}

void erase_timer(RunState& state, TimerNumber number) {
    auto found = state.timers.find(number);
    if (found == state.timers.end()) {
        return;
    }
    auto scope = found->second.scope;
    state.removed_timers.push_back(
        {.number = number, .is_absolute = found->second.is_absolute, .due = found->second.due});
    state.members[scope].timers.erase(number);
    forget_members_if_none(state, scope);
    state.timers.erase(found);
    state.mark({.table = Table::Timer, .first = number.raw()});
}

DirtyEntity entity_of(const CollectedKey& key) {
    return {.table = Table::Collected,
            .first = key.scope.raw(),
            .second = std::uint64_t{key.trigger.raw()} << 32U | key.block};
}

void erase_collected(RunState& state, Incarnation scope, std::optional<TriggerNumber> trigger) {
    auto at = state.collected.lower_bound(
        {.scope = scope, .trigger = trigger.value_or(TriggerNumber{0})});
    while (at != state.collected.end() && at->first.scope == scope &&
           (!trigger || at->first.trigger == *trigger)) {
        state.mark(entity_of(at->first));
        at = state.collected.erase(at);
    }
}

void remove_scope(RunState& state, const std::string& path) {
    auto found = state.scopes.find(path);
    if (found == state.scopes.end()) {
        return;
    }
    auto [incarnation, parent, variables] = found->second;
    auto members = ScopeMembers{};
    if (auto own = state.members.find(incarnation); own != state.members.end()) {
        members = own->second;
    }
    for (const auto& key : members.tasks) {
        erase_task(state, key);
    }
    for (auto number : members.timers) {
        erase_timer(state, number);
    }
    erase_continuations(
        state, [scope = incarnation](const Continuation& each) { return each.scope == scope; });
    erase_hold(state, incarnation);
    state.mark({.table = Table::Contexts, .first = incarnation.raw()});
    state.scoped_triggers.erase(incarnation);
    erase_collected(state, incarnation);
    state.closed_scopes -= is_closed_path(path) ? 1 : 0;
    detach(state, parent, path);
    state.scope_paths.erase(incarnation);
    state.scopes.erase(found);
    state.mark({.table = Table::Scope, .path = path});
}

void bury_scope(RunState& state, const std::string& path) {
    auto node = state.scopes.extract(path);
    INVARIANT(!node.empty(), "only a scope that is there is buried");
    auto buried = closed_path(node.mapped().incarnation);
    detach(state, node.mapped().parent, path);
    state.link(buried, node.mapped());
    state.mark({.table = Table::Scope, .path = path});
    state.mark({.table = Table::Scope, .path = buried});
    node.key() = std::move(buried);
    state.scopes.insert(std::move(node));
}

void mark_scope(RunState& state, const std::string& path) {
    bury_scope(state, path);
    erase_continuations(
        state, [&](const Continuation& each) { return state.path_of(each.scope) == nullptr; });
}

void close_root(RunState& state, bool drops_contexts) {
    for (auto it = state.tasks.begin(); it != state.tasks.end();) {
        auto [key, is_sink] = std::pair{it->first, it->second.kind == TaskKind::Sink};
        ++it;
        if (!is_sink) {
            erase_task(state, key);
        }
    }
    for (auto it = state.timers.begin(); it != state.timers.end();) {
        auto [number, outlives] = std::pair{it->first, outlives_root(state, it->second)};
        ++it;
        if (!outlives) {
            erase_timer(state, number);
        }
    }
    while (!state.holds.empty()) {
        erase_hold(state, Incarnation{state.holds.begin()->first});
    }
    mark_root(state);
    state.progress.is_sweeping = false;
    if (drops_contexts) {
        while (!state.scopes.empty()) {
            remove_scope(state, std::string{state.scopes.begin()->first});
        }
        state.mark({.table = Table::Contexts, .first = root_scope.raw()});
        state.root_triggers.clear();
        erase_collected(state, root_scope);
    }
}

void mark_root(RunState& state) {
    erase_continuations(state, [](const Continuation&) { return true; });
    state.queue.clear();
    state.progress.is_sweeping = true;
}

} // namespace sluice::trigger::closing
