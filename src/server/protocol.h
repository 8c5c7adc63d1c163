#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"
#include "server/access.h"
#include "server/problem.h"
#include "server/route_table.h"

namespace sluice::server {

/// Another protocol on the same port, whose requests all have one path: what stands for the path in
/// the route table is elsewhere in them, so that its operations have policies like all routes.
class Protocol {
public:
    virtual ~Protocol() = default;

    virtual bool speaks(const http::Request& request) const = 0;
    /// The path of the operation that is asked for.
    virtual std::vector<std::string> segments(const http::Request& request) const = 0;
    /// The host that is meant by a name that its clients make of it.
    virtual std::string_view host(std::string_view name) const = 0;
    /// Whether the request is signed in a way of its own, instead of bearing a token.
    virtual bool is_signed(const http::Request& request) const = 0;
    virtual std::variant<Caller, Problem> signer_of(const http::Request& request) const = 0;
    /// Tells problems in the protocol's words.
    virtual Reply translated(Reply reply) const = 0;
};

} // namespace sluice::server
