#pragma once

#include "server/route_table.h"
#include "server/services.h"

namespace sluice::server {

/// What a person tells a task of a run: retry, skip, set-result, approve.
void add_run_task_routes(RouteTable& routes, const Services& services);

} // namespace sluice::server
