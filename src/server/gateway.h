#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "http/server.h"
#include "observe/metrics.h"
#include "server/access.h"
#include "server/audit.h"
#include "server/internal/caller_rates.h"
#include "server/namespaces.h"
#include "server/protocol.h"
#include "server/route_table.h"

namespace sluice::server {

struct GatewayOptions {
    /// Whether, as long as there are no tokens, everybody is an administrator: on loopback.
    bool is_open = true;
    /// Names that the header Host may have besides addresses and `localhost`, against DNS
    /// rebinding.
    std::vector<std::string> hosts;
    /// Pages of these origins may use the API from a browser.
    std::vector<std::string> origins;
    Audit* audit = nullptr; ///< Hears of every change that is asked for; outlives the gateway.
    /// The namespaces there are; none: any name is one.
    const Namespaces* namespaces = nullptr;
    /// Of each caller: a token, or the address of whoever has none.
    Rate requests{};
    const Clock* clock = nullptr; ///< For the rate, which holds only with one.
    /// Besides paths; null: there is none. Outlives the gateway.
    const Protocol* protocol = nullptr;
};

/// What stands before every route: finds it, asks who calls, and refuses who may not.
class Gateway {
public:
    Gateway(RouteTable routes, const TokenTable& tokens, observe::Metrics& metrics,
            GatewayOptions options);

    /// A Handler of http::Server.
    void handle(http::Request request, const Reply& reply) const;
    const RouteTable& routes() const { return routes_; }
    /// From any thread.
    void set_names(std::vector<std::string> hosts, std::vector<std::string> origins);

private:
    /// What may change while it handles requests.
    struct Names {
        std::vector<std::string> hosts;
        std::vector<std::string> origins;
    };

    void dispatch(http::Request request, const Reply& reply) const;
    Reply audited(const Reply& reply, const Route& route, const Incoming& incoming) const;
    std::shared_ptr<const Names> names() const;
    bool is_known_host(const http::Request& request) const;
    bool is_foreign_page(const http::Request& request) const;
    bool is_known_origin(std::string_view origin) const;
    /// The protocol that a request is in; null: it goes by its path.
    const Protocol* protocol_of(const http::Request& request) const;
    std::variant<Caller, Problem> caller_of(const http::Request& request) const;
    /// Of a caller with a token; or of an address.
    std::optional<Problem> refuse_rate(const std::variant<Caller, Problem>& caller,
                                       const http::Request& request) const;

    RouteTable routes_;
    const TokenTable& tokens_;
    observe::Counter& requests_;
    observe::Counter& refused_;
    GatewayOptions options_;
    mutable std::mutex mutex_;
    std::shared_ptr<const Names> names_;
    mutable CallerRates rates_;
};

/// What a server that listens already says until it has a gateway: that it lives and is not ready.
void answer_while_starting(const http::Request& request, const Reply& reply,
                           std::string_view version);

} // namespace sluice::server
