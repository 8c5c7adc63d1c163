#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "http/message.h"
#include "http/url.h"
#include "trigger/spec.h"
#include "value/value.h"

namespace sluice::connector::http {

/// How `http:invoke` shows who it is, as the section `connections` declares it. Texts may refer to
/// secrets.
struct Connection {
    std::string name;
    std::vector<std::pair<std::string, std::string>> headers{};
    std::vector<std::pair<std::string, std::string>> query{};
    std::string user{}; ///< Given: basic authentication.
    std::string password{};
    bool is_private = false;               ///< May go to loopback and private addresses.
    std::vector<std::string> namespaces{}; ///< Whose runs may use it; empty: all.

    bool operator==(const Connection&) const = default;
};

/// What is wrong is appended, with paths from `connections` on.
std::vector<Connection> read_connections(const Value& section,
                                         std::vector<trigger::Problem>& problems);

/// The request that the arguments of `http:invoke` ask for, and where it goes. Fails with
/// InvalidInput. The connection may be null.
struct Invocation {
    sluice::http::Url url;
    sluice::http::Request request;
};
Result<Invocation> invocation_of(const Value& arguments, const Connection* connection);

/// Name of the connection that the arguments refer to by its ARN; empty: none.
std::string connection_named(const Value& arguments);

/// What the service answers: headers, body, status.
Value answer_view(const sluice::http::Response& response);

} // namespace sluice::connector::http
