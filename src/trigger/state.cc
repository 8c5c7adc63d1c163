#include "trigger/state.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

namespace sluice::trigger {

namespace {

constexpr auto room_entries_kept = std::size_t{8};

} // namespace

std::string_view to_string(Status status) {
    switch (status) {
        case Status::Running: return "running";
        case Status::Succeeded: return "succeeded";
        case Status::Failed: return "failed";
        case Status::Cancelled: return "cancelled";
        case Status::TimedOut: return "timed out";
        case Status::Queued: return "queued";
    }
    return "unknown";
}

std::string_view to_string(KeptReason reason) {
    switch (reason) {
        case KeptReason::Disabled: return "its triggers are disabled";
        case KeptReason::Unmatched: return "no trigger waits for it yet";
        case KeptReason::Held: return "its scope is held";
        case KeptReason::Failed: return "a trigger failed on it";
    }
    return "unknown";
}

const TriggerStates* RunState::triggers_in(Incarnation scope) const {
    if (scope == root_scope) {
        return &root_triggers;
    }
    auto scoped = scoped_triggers.find(scope);
    return scoped == scoped_triggers.end() ? nullptr : &scoped->second;
}

const TriggerState* RunState::find_trigger(Incarnation scope, TriggerNumber trigger) const {
    const auto* states = scope == root_scope ? &root_triggers : triggers_in(scope);
    return states == nullptr ? nullptr : states->find(trigger.raw());
}

std::vector<Value> RunState::collected_by(Incarnation scope, TriggerNumber trigger) const {
    auto values = std::vector<Value>{};
    auto at = collected.lower_bound({.scope = scope, .trigger = trigger});
    for (; at != collected.end() && at->first.scope == scope && at->first.trigger == trigger;
         ++at) {
        values.resize(at->first.block * CollectedBlock::size);
        values.insert(values.end(), at->second.values.begin(), at->second.values.end());
    }
    return values;
}

const std::string* RunState::path_of(Incarnation scope) const {
    static const auto root_path = std::string{};
    if (scope == root_scope) {
        return &root_path;
    }
    auto found = scope_paths.find(scope);
    return found == scope_paths.end() || !is_live(found->second) ? nullptr : &found->second;
}

std::optional<Incarnation> RunState::nested_scope_at(std::string_view path) const {
    auto found = scopes.find(path);
    if (found == scopes.end() || !is_live(path)) {
        return std::nullopt;
    }
    return found->second.incarnation;
}

bool RunState::is_live(std::string_view path) const {
    if (closed_scopes == 0) [[likely]] {
        return true;
    }
    auto at = scopes.find(path);
    while (at != scopes.end() && !is_closed_path(at->first)) {
        if (at->second.parent == root_scope) {
            return true;
        }
        auto parent = scope_paths.find(at->second.parent);
        at = parent == scope_paths.end() ? scopes.end() : scopes.find(parent->second);
    }
    return false;
}

bool RunState::is_open(const TaskState& task) const {
    return task.kind == TaskKind::Sink || (!is_over() && path_of(task.scope) != nullptr);
}

void RunState::link(const std::string& path, const ScopeState& scope) {
    scope_paths[scope.incarnation] = path;
    if (is_closed_path(path)) {
        ++closed_scopes;
    } else {
        members[scope.parent].children.insert(path);
    }
}

std::string closed_path(Incarnation scope) {
    return fmt::format("//{}", scope.raw());
}

bool is_closed_path(std::string_view path) {
    return path.starts_with("//");
}

void RunState::mark_clean() {
    dirty.clear();
    dirty_triggers.clear();
    removed_timers.clear();
    has_sequences_changed = false;
    is_stored = true;
    ++batch;
}

void RunState::release_room() {
    auto release = [](auto& list) {
        if (list.capacity() > room_entries_kept) {
            list = {};
        }
    };
    release(dirty);
    release(dirty_triggers);
    release(removed_timers);
}

void RunState::clear() {
    release_room();
    mark_clean();
    auto entities = std::move(dirty);
    auto triggers = std::move(dirty_triggers);
    std::destroy_at(this);
    std::construct_at(this);
    dirty = std::move(entities);
    dirty_triggers = std::move(triggers);
}

} // namespace sluice::trigger
