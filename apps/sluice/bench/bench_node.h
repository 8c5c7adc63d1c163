#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sluice/bench/bench_report.h"
#include "value/value.h"

namespace sluice::app {

/// What a script under node prints as JSON, given the name of a file with the job; nothing when
/// node, or a package that it wants, is not there. `packages` is where node looks for them besides.
std::optional<Value> ask_node(std::string_view script, const Value& job,
                              const std::string& packages);

Samples samples_of(const Value& rates);

} // namespace sluice::app
