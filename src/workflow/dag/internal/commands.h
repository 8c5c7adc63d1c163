#pragma once

#include "trigger/trigger_set.h"

namespace sluice::workflow::dag::internal {

/// What a person may tell a task of a run: `task.retry`, `task.skip`, `task.set_result`,
/// `task.approve`.
void add_commands(trigger::Vocabulary& vocabulary);

} // namespace sluice::workflow::dag::internal
