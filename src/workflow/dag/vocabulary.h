#pragma once

#include "trigger/trigger_set.h"
#include "workflow/dag/operator.h"

namespace sluice::workflow::dag {

/// Adds the conditions and actions that the triggers of compiled definitions use: `dag.task` and
/// `dag.end`, and `task.retry`, `task.skip`, `task.set_result` and `task.approve`, which are given
/// to a run as commands.
void add_vocabulary(trigger::Vocabulary& vocabulary, const Operators& operators);

} // namespace sluice::workflow::dag
