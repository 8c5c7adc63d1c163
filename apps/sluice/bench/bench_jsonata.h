#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sluice/bench/bench.h"
#include "value/value.h"

namespace sluice::app {

/// JSONata expressions on the same document, ours and npm's under node, as
/// members of a report. Where node or the package is not there, the report says
/// so.
Result<std::vector<value::Member>> bench_jsonata(const BenchOptions& options,
                                                 const std::string& document);

} // namespace sluice::app
