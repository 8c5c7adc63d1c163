#pragma once

#include <span>
#include <string>

#include "graph/graph.h"
#include "value/value.h"

namespace sluice::workflow::raw {

/// Triggers, with an edge where one emits, calls, starts, schedules or switches what another waits
/// for, as far as that can be known from what is written. Takes maps of a `trigger`, and in a run
/// its `states`, as the run shows them.
graph::Graph draw(std::string title, std::span<const Value> triggers);

} // namespace sluice::workflow::raw
