#include <utility>

#include "trigger/decider.h"

// Closing is one mark; what was open goes later, a slice at a time, and other events come between.
namespace sluice::trigger {

bool Decider::can_close_at_once(bool drops_contexts) const {
    auto count = state_.tasks.size() + state_.timers.size() + state_.holds.size() +
                 (drops_contexts ? state_.scopes.size() : 0);
    return count <= limits_.slice_items_max;
}

bool Decider::can_close_at_once(const std::string& path) const {
    auto count = std::uint64_t{1};
    auto todo = std::vector<std::string>{path};
    while (!todo.empty()) {
        auto scope = state_.scopes.at(todo.back()).incarnation;
        todo.pop_back();
        auto members = state_.members.find(scope);
        if (members == state_.members.end()) {
            continue;
        }
        const auto& [tasks, timers, children] = members->second;
        count += tasks.size() + timers.size() + children.size();
        if (count > limits_.slice_items_max) {
            return false;
        }
        todo.insert(todo.end(), children.begin(), children.end());
    }
    return true;
}

Fate Decider::sweep() {
    sweep_task_.reset();
    sweep_timer_.reset();
    for (auto left = limits_.slice_items_max; left > 0 && state_.has_unswept(); --left) {
        state_.progress.is_sweeping ? sweep_one_of_run() : sweep_one_of_scopes();
    }
    return Fate::Handled;
}

void Decider::sweep_one_of_run() {
    // The latest first: were those before it to go, a function would begin those that wait behind.
    for (auto it = sweep_task_ ? state_.tasks.lower_bound(*sweep_task_) : state_.tasks.end();
         it != state_.tasks.begin();) {
        sweep_task_ = (--it)->first;
        if (it->second.kind != TaskKind::Sink) {
            cancel_task(TaskKey{it->first});
            return;
        }
    }
    for (auto it = sweep_timer_ ? state_.timers.lower_bound(*sweep_timer_) : state_.timers.end();
         it != state_.timers.begin();) {
        sweep_timer_ = (--it)->first;
        // The next attempt of what leaves for a sink still counts.
        if (!state_.tasks.contains(it->second.task)) {
            remove_timer(TimerNumber{it->first});
            return;
        }
    }
    if (!state_.holds.empty()) {
        record(HoldSet{.scope = state_.holds.begin()->first, .is_held = false});
    } else if (state_.drops_contexts() && !state_.scopes.empty()) {
        record(Swept{.path = state_.scopes.begin()->first});
    } else {
        record(Swept{});
    }
}

void Decider::sweep_one_of_scopes() {
    static const auto nothing = ScopeMembers{};
    auto path = state_.scopes.lower_bound("//")->first;
    const auto* members = &nothing;
    while (true) {
        auto found = state_.members.find(state_.scopes.at(path).incarnation);
        members = found == state_.members.end() ? &nothing : &found->second;
        if (members->children.empty()) {
            break;
        }
        path = *members->children.rbegin(); // What is inside is found through what is around it.
    }
    if (!members->tasks.empty()) {
        cancel_task(TaskKey{*members->tasks.rbegin()});
    } else if (!members->timers.empty()) {
        remove_timer(TimerNumber{*members->timers.begin()});
    } else {
        record(Swept{.path = path});
    }
}

} // namespace sluice::trigger
