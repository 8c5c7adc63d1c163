#pragma once

#include <span>
#include <string>

#include "graph/graph.h"
#include "value/value.h"

namespace sluice::workflow::dag {

/// Whether triggers are those of tasks. Both take maps of a `trigger`, as `compile` gives it, and
/// in a run its `states`, as the run shows them.
bool has_tasks(std::span<const Value> triggers);
/// The tasks and what they come after; those that are done for each item are drawn in their map.
graph::Graph draw(std::string title, std::span<const Value> triggers);

} // namespace sluice::workflow::dag
