#pragma once

#include <optional>
#include <string>

#include "trigger/state.h"

/// How things leave a run's state. For `apply` alone.
namespace sluice::trigger::closing {

void erase_task(RunState& state, const TaskKey& key);
DirtyEntity entity_of(const CollectedKey& key);
/// Of all triggers of the scope, unless one is named.
void erase_collected(RunState& state, Incarnation scope,
                     std::optional<TriggerNumber> trigger = std::nullopt);
void erase_timer(RunState& state, TimerNumber number);

/// A scope with the tasks, timers and contexts in it; not those inside.
void remove_scope(RunState& state, const std::string& path);
/// Lets a scope go by its closed path: it is dead, and so is what is inside.
void bury_scope(RunState& state, const std::string& path);
/// The same, and the long actions under way in there end.
void mark_scope(RunState& state, const std::string& path);

/// All that a run has open, at once. Its scopes and contexts too, or they stay frozen.
void close_root(RunState& state, bool drops_contexts);
/// Nothing of it is delivered or continued any more; what is open waits to be swept.
void mark_root(RunState& state);

} // namespace sluice::trigger::closing
