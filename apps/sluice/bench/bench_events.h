#pragma once

#include "sluice/bench/bench.h"
#include "sluice/bench/bench_report.h"
#include "sluice/bench/bench_world.h"

namespace sluice::app {

/// noop and join: many events into one run, from memory or over a bus.
Result<void> bench_events(const BenchOptions& options, BenchWorld& world, BenchFigures& figures);

} // namespace sluice::app
