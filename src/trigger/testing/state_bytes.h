#pragma once

#include <string>

#include "trigger/state.h"

namespace sluice::trigger::testing {

/// Everything of a run that outlives a restart, as bytes in a fixed order: two states are the same
/// when these are. The ids it has seen are not part of it: history does not repeat them.
std::string state_bytes(const RunState& state);

/// The same, to be read by a person who looks for the difference.
std::string state_text(const RunState& state);

} // namespace sluice::trigger::testing
