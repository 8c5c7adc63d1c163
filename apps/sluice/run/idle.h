#pragma once

#include "engine/engine.h"

namespace sluice::app {

/// Whether a run can only wait for events from outside: nothing of it is queued, under way or
/// timed, nor of the runs that it started and waits for. A message between two runs cannot be seen:
/// ask twice, with time in between.
bool is_idle(engine::Engine& engine, const engine::RunName& run);

/// Asks the engine and waits for the answer.
Result<Value> ask(engine::Engine& engine, const engine::RunName& run,
                  std::function<Result<Value>(const trigger::RunState*)> read);

} // namespace sluice::app
