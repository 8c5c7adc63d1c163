#pragma once

#include <span>
#include <string>

#include "graph/graph.h"
#include "value/value.h"

namespace sluice::workflow::asl {

/// Whether triggers are those of a state machine. Both take maps of a `trigger`, as `compile` gives
/// it, and in a run its `states`, as the run shows them.
bool has_states(std::span<const Value> triggers);
/// The states and where they go; branches and processors are drawn in their Parallel or Map, and in
/// a run the states in which it is say what they do there.
graph::Graph draw(std::string title, std::span<const Value> triggers);

} // namespace sluice::workflow::asl
