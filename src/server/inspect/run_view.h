#pragma once

#include "trigger/state.h"
#include "value/value.h"

namespace sluice::server::inspect {

/// Parts of a run as JSON shows them.
Value progress_view(const trigger::RunState& state);
Value contexts_view(const trigger::RunState& state);
Value tasks_view(const trigger::RunState& state);
Value timers_view(const trigger::RunState& state);
Value kept_view(const trigger::RunState& state);
/// All of them.
Value state_view(const trigger::RunState& state);

} // namespace sluice::server::inspect
