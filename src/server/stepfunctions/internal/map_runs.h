#pragma once

#include "server/stepfunctions/internal/operation.h"

namespace sluice::server::stepfunctions {

/// `ListExecutions` of a map run: its children.
void list_map_children(World& world, const Call& call, const Responder& respond);

} // namespace sluice::server::stepfunctions
