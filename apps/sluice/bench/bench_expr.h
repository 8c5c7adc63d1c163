#pragma once

#include "base/result.h"
#include "sluice/bench/bench.h"
#include "value/value.h"

namespace sluice::app {

/// Expressions on one core and 1 KB of data, each beside what else could have done it: simdjson
/// reading the same fields, npm's jsonata under node.
Result<Value> bench_expressions(const BenchOptions& options);

} // namespace sluice::app
