#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "trigger/firing.h"
#include "workflow/dag/step.h"

namespace sluice::workflow::dag::internal {

/// Lets these tasks, all of one scope, begin again, and those behind them wait for them anew. What
/// else has ended stays as it is. Input given is that of the first.
void restart(trigger::Firing& firing, trigger::Incarnation scope,
             std::vector<trigger::TriggerNumber> tasks, std::optional<Value> input = std::nullopt);

/// A run that ended without success goes on: what failed or was under way begins again, or the task
/// that the event names.
trigger::Attempt<void> restart_failed(trigger::Firing& firing);

/// A task by its name as people write it: `load`, or `tiles/17/load` in an item of a map.
trigger::Attempt<Step> task_at(trigger::Firing& firing, std::string_view place);

} // namespace sluice::workflow::dag::internal
