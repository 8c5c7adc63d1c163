#pragma once

#include <string_view>

#include "engine/token.h"
#include "server/stepfunctions/internal/operation.h"

namespace sluice::server::stepfunctions {

/// Tells a run what is to be known of its task: an action of the language.
void tell_run(World& world, const engine::RunName& run, std::string_view action, Value params,
              engine::Done done);

/// The member `task` of such an action: the task that an attempt is of.
Value task_of(const engine::AttemptId& attempt);

} // namespace sluice::server::stepfunctions
