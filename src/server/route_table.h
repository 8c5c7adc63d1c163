#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "http/server.h"
#include "http/url.h"
#include "server/access.h"
#include "server/problem.h"

namespace sluice::server {

/// A request that has found its route and may use it.
struct Incoming {
    http::Request request;
    http::Target target;
    std::map<std::string, std::string, std::less<>> path; ///< What stood for `{name}`.
    Caller caller;
    std::string space = "default";

    /// What stood for a part of the path that the route has.
    const std::string& part(std::string_view name) const { return path.find(name)->second; }
    /// A parameter of the query, or null.
    const std::string* query(std::string_view name) const { return target.find(name); }
    /// The body, which must be a JSON object; an empty one stands for `{}`.
    Result<Value> json() const;
};

using Reply = std::shared_ptr<http::Exchange>;
using Handle = std::function<void(Incoming incoming, Reply reply)>;

struct Route {
    http::Method method;
    std::string pattern; ///< `/v1/runs/{run}/events`
    Policy policy;       ///< There is no default: a route without one does not compile.
    Handle handle;

    Route(http::Method route_method, std::string route_pattern, Policy route_policy,
          Handle route_handle)
        : method(route_method),
          pattern(std::move(route_pattern)),
          policy(route_policy),
          handle(std::move(route_handle)) {}

    /// Whether the audit hears of its use.
    bool is_audited() const { return policy.is_audited && http::is_change(method); }
};

/// Finds the route of a path and the parts of it.
class RouteTable {
public:
    struct Match {
        const Route* route = nullptr;
        std::map<std::string, std::string, std::less<>> path;
    };

    void add(Route route);
    /// The route; or which methods the path has, empty when there is no such path.
    std::variant<Match, std::vector<http::Method>> find(
        http::Method method, const std::vector<std::string>& segments) const;
    const std::vector<std::unique_ptr<Route>>& all() const { return routes_; }

private:
    struct Node {
        std::map<std::string, std::unique_ptr<Node>, std::less<>> named;
        std::unique_ptr<Node> any; ///< `{name}`
        std::map<http::Method, const Route*> routes;
    };

    const Node* walk(const Node& node, std::span<const std::string> segments,
                     std::optional<http::Method> method) const;

    std::vector<std::unique_ptr<Route>> routes_;
    Node root_;
};

/// `{"a": 1}` as the answer.
void answer(const Reply& reply, int status, const Value& value);
void answer(const Reply& reply, const Problem& problem);
/// The value with 200, or what the error means.
void answer(const Reply& reply, const Result<Value>& result);

} // namespace sluice::server
