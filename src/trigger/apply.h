#pragma once

#include <vector>

#include "trigger/change.h"
#include "trigger/history.h"
#include "trigger/state.h"

namespace sluice::trigger {

/// The one place where a run's state changes: while deciding, and when its history is read again.
void apply(RunState& state, const Change& change);
/// The same where the trigger's state has been looked up already; null: it has none yet.
void apply(RunState& state, const Activated& change, TriggerState* known);

/// An event of a run's history again: its changes, and what taking it did to the run's numbers.
void fold(RunState& state, const Entry& entry);

/// The live scopes at and below a path, the root not listed.
std::vector<std::string> scopes_within(const RunState& state, const std::string& path);

} // namespace sluice::trigger
