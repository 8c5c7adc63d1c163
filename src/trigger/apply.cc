#include "trigger/apply.h"

#include <tuple>
#include <utility>

#include "base/invariant.h"
#include "trigger/internal/closing.h"
#include "trigger/state_image.h"

namespace sluice::trigger {

namespace {

TriggerState& state_of(RunState& state, Incarnation scope, TriggerNumber trigger) {
    auto& states = scope == root_scope ? state.root_triggers : state.scoped_triggers[scope];
    return states[trigger.raw()];
}

TriggerState& touch(RunState& state, Incarnation scope, TriggerNumber trigger,
                    TriggerState* known = nullptr) {
    auto& touched = known != nullptr ? *known : state_of(state, scope, trigger);
    if (touched.dirty_since != state.batch) {
        touched.dirty_since = state.batch;
        state.dirty_triggers.push_back({.scope = scope, .trigger = trigger});
    }
    return touched;
}

void note_activated(TriggerState& trigger, const Activated& change) {
    trigger.progress = change.progress;
    if (change.seen) {
        trigger.seen.push_back(*change.seen);
    }
}

/// Senders may repeat themselves to a new generation.
void forget_ids(RunState& state) {
    state.seen.forget_all();
    state.has_sequences_changed |= !state.sequences.empty();
    state.sequences.clear();
}

struct Applier {
    RunState& state;

    void operator()(const Activated& change) {
        note_activated(touch(state, change.scope, change.trigger), change);
    }

    void operator()(const Fired& change) {
        state.progress.fires = change.fire.raw();
        if (change.trigger == command_trigger) {
            return;
        }
        auto& trigger = touch(state, change.scope, change.trigger);
        trigger.progress = 0;
        trigger.seen.clear();
        trigger.is_gone = change.is_gone;
        ++trigger.fired;
    }

    void operator()(const Faulted& /*change*/) {}

    void operator()(const Switched& change) {
        touch(state, change.scope, change.trigger).enabled = change.enabled;
    }

    void operator()(const Remembered& change) {
        touch(state, change.scope, change.trigger).memory = change.memory;
    }

    void operator()(const Overridden& change) {
        state.overrides[change.trigger] = TriggerOverride{.form = change.form};
        state.mark({.table = Table::Override, .first = change.trigger.raw()});
    }

    void operator()(const ContextSet& change) {
        state.context = change.context;
        state.mark({.table = Table::Context});
    }

    void operator()(const ScopeOpened& change) {
        if (state.scopes.contains(change.path)) {
            closing::bury_scope(state, change.path); // A dead one, which waits to be swept.
        }
        state.scopes[change.path] = change.scope;
        state.link(change.path, change.scope);
        state.progress.incarnations = change.scope.incarnation.raw();
        state.mark({.table = Table::Scope, .path = change.path});
    }

    void operator()(const ScopeClosed& change) {
        if (!change.is_swept) {
            closing::mark_scope(state, change.path);
            return;
        }
        for (const auto& path : scopes_within(state, change.path)) {
            closing::remove_scope(state, path);
        }
    }

    void operator()(const VariablesSet& change) {
        auto found = state.scopes.find(change.path);
        INVARIANT(found != state.scopes.end(), "variables belong to an open scope");
        found->second.variables = change.variables;
        state.mark({.table = Table::Scope, .path = change.path});
    }

    void operator()(const TaskOpened& change) {
        // Keys grow, so each belongs at the end.
        state.tasks.insert_or_assign(state.tasks.end(), change.key, change.task);
        auto& members = state.members[change.task.scope].tasks;
        members.insert(members.end(), change.key);
        state.mark(
            {.table = Table::Task, .first = change.key.fire.raw(), .second = change.key.index});
    }

    void operator()(const TaskClosed& change) { closing::erase_task(state, change.key); }

    void operator()(const TaskRetried& change) {
        auto found = state.tasks.find(change.key);
        INVARIANT(found != state.tasks.end(), "only an open task is tried again");
        found->second.attempt = change.attempt;
        found->second.is_waiting = change.is_waiting;
        state.mark(
            {.table = Table::Task, .first = change.key.fire.raw(), .second = change.key.index});
    }

    void operator()(const TimerSet& change) {
        // A periodic timer keeps its number; its earlier place among the due ones goes.
        closing::erase_timer(state, change.number);
        state.timers[change.number] = change.timer;
        state.members[change.timer.scope].timers.insert(change.number);
        state.progress.timers = std::max(state.progress.timers, change.number.raw());
        state.mark({.table = Table::Timer, .first = change.number.raw()});
    }

    void operator()(const TimerRemoved& change) { closing::erase_timer(state, change.number); }

    void operator()(const EventKept& change) {
        state.progress.kept_bytes += change.event.json.size();
        state.kept[change.number] = change.event;
        state.mark({.table = Table::Kept, .first = change.number.raw()});
    }

    void operator()(const EventReleased& change) {
        auto found = state.kept.find(change.number);
        INVARIANT(found != state.kept.end(), "only a kept event is released");
        state.progress.kept_bytes -= found->second.json.size();
        state.kept.erase(found);
        state.mark({.table = Table::Kept, .first = change.number.raw()});
    }

    void operator()(const Emitted& change) {
        state.progress.emitted = change.event.number;
        state.queue.push_back(change.event);
    }

    void operator()(const Sent& /*change*/) {}

    void operator()(const Continued& change) {
        state.progress.continuations = change.number;
        state.continuations[change.number] = change.continuation;
        state.continuation_next[change.number] = 0;
        state.mark({.table = Table::Continuation, .first = change.number});
        state.mark({.table = Table::ContinuationNext, .first = change.number});
    }

    void operator()(const Advanced& change) {
        state.mark({.table = Table::ContinuationNext, .first = change.number});
        if (!change.is_done) {
            state.continuation_next[change.number] = change.next;
            return;
        }
        state.continuations.erase(change.number);
        state.continuation_next.erase(change.number);
        state.mark({.table = Table::Continuation, .first = change.number});
    }

    void operator()(const HoldSet& change) {
        if (change.is_held) {
            state.holds[change.scope] = Hold{.by = change.by};
        } else {
            state.holds.erase(change.scope);
        }
        state.mark({.table = Table::Hold, .first = change.scope.raw()});
    }

    void operator()(const Cancelling& /*change*/) { state.progress.is_cancelling = true; }

    /// Without success its scopes and contexts stay, frozen, so that the run can be reopened.
    void operator()(const Ended& change) {
        change.is_swept ? closing::close_root(state, change.status == Status::Succeeded)
                        : closing::mark_root(state);
        set_place({});
        state.progress.status = change.status;
        state.progress.ended = change.at;
        state.progress.result = change.result;
        state.progress.error = change.error;
        state.progress.is_cancelling = false;
        state.progress.renewal.reset();
    }

    void operator()(const Replied& /*change*/) {}

    void operator()(const Began& change) {
        state.info = change.info;
        state.context = change.context;
        state.mark({.table = Table::Info});
        state.mark({.table = Table::Context});
    }

    void operator()(const Forked& change) {
        auto decoded = decode_image(change.image, state);
        INVARIANT(decoded.has_value(), "an image is made by the engine itself");
        state.info.forked_from = change.from;
        state.info.parent.reset();
        for (auto& [number, timer] : state.timers) {
            if (!timer.is_absolute) {
                timer.due = change.steady + timer.due.time_since_epoch();
            }
        }
    }

    void operator()(const Renewing& change) {
        change.is_swept ? closing::close_root(state, true) : closing::mark_root(state);
        state.progress.renewal = change.renewal;
    }

    void operator()(const Renewed& change) {
        for (const auto& [number, form] : state.overrides) {
            state.mark({.table = Table::Override, .first = number.raw()});
        }
        state.overrides.clear();
        // What the store has of the queue and this event's number are no part of the image.
        auto stored = std::pair{state.queue_stored_first, state.queue_stored_end};
        auto events = state.progress.events;
        auto decoded = decode_image(change.image, state);
        INVARIANT(decoded.has_value(), "an image is made by the engine itself");
        std::tie(state.queue_stored_first, state.queue_stored_end) = stored;
        state.progress.events = std::max(events, state.progress.events);
        forget_ids(state);
    }

    void operator()(const Collected& change) {
        auto key = CollectedKey{.scope = change.scope,
                                .trigger = change.trigger,
                                .block = change.index / CollectedBlock::size};
        auto place = change.index % CollectedBlock::size;
        auto& block = state.collected[key];
        block.present |= std::uint64_t{1} << place;
        block.values.resize(std::max<std::size_t>(block.values.size(), place + 1));
        block.values[place] = change.value;
        state.mark(closing::entity_of(key));
    }

    void operator()(const CollectionDropped& change) {
        closing::erase_collected(state, change.scope, change.trigger);
    }

    void operator()(const Adopted& change) {
        state.info.parent = change.parent;
        state.mark({.table = Table::Info});
    }

    void operator()(const PlaceSet& change) {
        set_place(change.place);
        auto is_waiting = state.place && !state.place->is_given;
        state.progress.status = is_waiting ? Status::Queued : Status::Running;
    }

    void set_place(std::optional<Place> place) {
        if (state.place || place) {
            state.place = place;
            state.mark({.table = Table::Place});
        }
    }

    void operator()(const Swept& change) {
        if (!change.path.empty()) {
            closing::remove_scope(state, change.path);
        } else {
            closing::close_root(state, state.drops_contexts());
        }
    }

    void operator()(const Reopened& change) {
        state.info.generation = change.generation;
        state.mark({.table = Table::Info});
        state.progress.status = Status::Running;
        state.progress.own_events = 0;
        state.progress.ended.reset();
        state.progress.result = {};
        state.progress.error = {};
    }
};

} // namespace

std::vector<std::string> scopes_within(const RunState& state, const std::string& path) {
    auto paths = std::vector<std::string>{};
    auto todo = std::vector<std::string>{path};
    while (!todo.empty()) {
        auto current = std::move(todo.back());
        todo.pop_back();
        auto incarnation = state.scope_at(current);
        if (!incarnation) {
            continue;
        }
        if (auto found = state.members.find(*incarnation); found != state.members.end()) {
            todo.insert(todo.end(), found->second.children.begin(), found->second.children.end());
        }
        if (!current.empty()) {
            paths.push_back(std::move(current));
        }
    }
    return paths;
}

void apply(RunState& state, const Change& change) {
    std::visit(Applier{state}, change);
}

void apply(RunState& state, const Activated& change, TriggerState* known) {
    note_activated(touch(state, change.scope, change.trigger, known), change);
}

void fold(RunState& state, const Entry& entry) {
    state.progress.events = std::max(state.progress.events, entry.number.raw());
    if (renews_budget(entry.origin) && !state.has_ended()) {
        state.progress.own_events = 0;
    }
    if (is_from_outside(entry.origin) && !state.has_ended()) {
        state.progress.duplicates += entry.fate == Fate::Duplicate ? 1 : 0;
    }
    if (entry.origin == Origin::Own) {
        INVARIANT(!state.queue.empty(), "an own event was queued before it was decided");
        ++state.progress.own_events;
        state.queue.pop_front();
    }
    for (const auto& change : entry.changes) {
        apply(state, change);
    }
}

} // namespace sluice::trigger
