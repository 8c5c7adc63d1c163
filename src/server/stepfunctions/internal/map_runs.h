#pragma once

#include <cstdint>

#include "server/stepfunctions/internal/executions.h"

namespace sluice::server::stepfunctions {

/// Finds the execution of the map run that the call names, and answers on a worker.
void answer_of_map_run(World& world, const Call& call, const Responder& respond, MakeAnswer make);
/// The event that a map run began with, by its ARN.
std::int64_t event_of(const Arn& map_run);

// Children of map runs, which are executions to the service (map_child_operations.cc).

/// `ListExecutions` of a map run.
void list_map_children(World& world, const Call& call, const Responder& respond);
/// `DescribeExecution` of a child. Blocks: the run is decided again.
Answer describe_child(World& world, const Call& call, const Seen& seen);
/// `StopExecution` of a child.
void stop_child(World& world, const Call& call, const Seen& seen, const Responder& respond);

} // namespace sluice::server::stepfunctions
