#pragma once

#include "base/result.h"
#include "sluice/bench/bench.h"
#include "value/value.h"

namespace sluice::app {

/// State machines without tasks, each beside npm's aws-local-stepfunctions under node: ours keep
/// their history.
Result<Value> bench_machines(const BenchOptions& options);

} // namespace sluice::app
