#pragma once

#include "workflow/dag/step.h"

namespace sluice::workflow::dag::internal {

/// Tasks that a task gave become its body: they are checked, added to the run and begun. A fault
/// says all that is wrong with them.
trigger::Attempt<void> expand(Step& step, const Value& given);
/// They have ended: what came is delivered in the scope of the task, and the task around it ends.
void end_body(Step& inner);

} // namespace sluice::workflow::dag::internal
