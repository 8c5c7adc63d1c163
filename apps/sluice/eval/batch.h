#pragma once

#include "sluice/eval/expression_case.h"
#include "sluice/exit_code.h"

namespace sluice::app {

/// A case a line on standard input, its answer a line on standard output, in order. A line that is
/// none is answered too, and never ends the run.
ExitCode eval_batch(Evaluator evaluate, Kinds kinds);

} // namespace sluice::app
