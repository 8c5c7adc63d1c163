#pragma once

#include "trigger/trigger_set.h"

namespace sluice::workflow::dag::internal {

/// What a person may tell a task of a run: `dag.retry`, `dag.skip`, `dag.set_result`,
/// `dag.approve`.
void add_commands(trigger::Vocabulary& vocabulary);

} // namespace sluice::workflow::dag::internal
