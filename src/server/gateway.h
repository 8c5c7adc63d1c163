#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "http/server.h"
#include "observe/metrics.h"
#include "server/access.h"
#include "server/route_table.h"

namespace sluice::server {

struct GatewayOptions {
    /// Whether a request without a token is an administrator's: on loopback, unless tokens exist.
    bool is_open = true;
    /// Names that the header Host may have besides addresses and `localhost`, against DNS
    /// rebinding.
    std::vector<std::string> hosts;
    /// Pages of these origins may use the API from a browser.
    std::vector<std::string> origins;
};

/// What stands before every route: finds it, asks who calls, and refuses who may not.
class Gateway {
public:
    Gateway(RouteTable routes, const TokenTable& tokens, observe::Metrics& metrics,
            GatewayOptions options);

    /// A Handler of http::Server.
    void handle(http::Request request, const Reply& reply) const;
    const RouteTable& routes() const { return routes_; }

private:
    void dispatch(http::Request request, const Reply& reply) const;
    bool is_known_host(const http::Request& request) const;
    bool is_known_origin(std::string_view origin) const;
    std::variant<Caller, Problem> caller_of(const http::Request& request) const;

    RouteTable routes_;
    const TokenTable& tokens_;
    observe::Counter& requests_;
    observe::Counter& refused_;
    GatewayOptions options_;
};

} // namespace sluice::server
