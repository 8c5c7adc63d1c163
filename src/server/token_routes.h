#pragma once

#include "base/clock.h"
#include "server/audit.h"
#include "server/route_table.h"
#include "server/tokens.h"

namespace sluice::server {

/// Making, listing and revoking tokens. All of these outlive the routes.
void add_token_routes(RouteTable& routes, Tokens& tokens, const Clock& clock);
void add_audit_routes(RouteTable& routes, Audit& audit, const Clock& clock);

} // namespace sluice::server
