#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "trigger/state.h"

namespace sluice::trigger {

/// Everything a run is, in one text: what a fork or a generation starts from. Ids it has seen are
/// not part of it, since another run has senders of its own.
std::string encode_image(const RunState& state);
/// Makes a state that of another run: its nested runs get names of their own, its relative timers
/// the time they had left.
void prepare_fork(RunState& state, const std::string& id, Time steady);
/// What the next generation of a run begins with, once everything of the last is closed.
std::string encode_next_generation(const RunState& state);
/// Puts an image into an empty state, all of it dirty. Fails with Corrupt.
Result<void> decode_image(std::string_view image, RunState& state);

} // namespace sluice::trigger
