#include "server/route_table.h"

#include <utility>

#include "base/invariant.h"
#include "value/json.h"

namespace sluice::server {

namespace {

bool is_any(std::string_view segment) {
    return segment.starts_with('{');
}

std::vector<std::string_view> segments_of(std::string_view pattern) {
    auto segments = std::vector<std::string_view>{};
    pattern.remove_prefix(1);
    while (!pattern.empty()) {
        auto segment = pattern.substr(0, pattern.find('/'));
        pattern.remove_prefix(std::min(pattern.size(), segment.size() + 1));
        segments.push_back(segment);
    }
    return segments;
}

} // namespace

Result<Value> Incoming::json() const {
    if (request.body.empty()) {
        return Value::object({});
    }
    auto value = TRY(value::parse_json(request.body));
    if (!value.is_map()) {
        return fail(Errc::InvalidInput, "the body must be a JSON object");
    }
    return value;
}

void RouteTable::add(Route route) {
    routes_.push_back(std::make_unique<Route>(std::move(route)));
    const auto& added = *routes_.back();
    auto* node = &root_;
    for (auto segment : segments_of(added.pattern)) {
        auto& next = is_any(segment) ? node->any : node->named[std::string{segment}];
        if (!next) {
            next = std::make_unique<Node>();
        }
        node = next.get();
    }
    auto is_new = node->routes.try_emplace(added.method, &added).second;
    INVARIANT(is_new, "a route is there once");
}

const RouteTable::Node* RouteTable::walk(const Node& node, std::span<const std::string> segments,
                                         std::optional<http::Method> method) const {
    if (segments.empty()) {
        auto is_found = method ? node.routes.contains(*method) : !node.routes.empty();
        return is_found ? &node : nullptr;
    }
    if (auto found = node.named.find(segments.front()); found != node.named.end()) {
        if (const auto* end = walk(*found->second, segments.subspan(1), method)) {
            return end;
        }
    }
    return node.any ? walk(*node.any, segments.subspan(1), method) : nullptr;
}

std::variant<RouteTable::Match, std::vector<http::Method>> RouteTable::find(
    http::Method method, const std::vector<std::string>& segments) const {
    // A name that one method takes, as in `POST /v1/runs/cancel`, is still a `{run}` to the others.
    const auto* node = walk(root_, segments, method);
    if (node == nullptr && method == http::Method::Head) {
        method = http::Method::Get;
        node = walk(root_, segments, method);
    }
    if (node == nullptr) {
        node = walk(root_, segments, std::nullopt);
        if (node == nullptr) {
            return std::vector<http::Method>{};
        }
        auto methods = std::vector<http::Method>{};
        for (const auto& [each, route] : node->routes) {
            methods.push_back(each);
        }
        return methods;
    }
    auto match = Match{.route = node->routes.at(method)};
    auto pattern = segments_of(match.route->pattern);
    for (auto at = std::size_t{0}; at < pattern.size(); ++at) {
        if (is_any(pattern[at])) {
            match.path[std::string{pattern[at].substr(1, pattern[at].size() - 2)}] = segments[at];
        }
    }
    return match;
}

void answer(const Reply& reply, int status, const Value& value) {
    reply->answer({.status = status,
                   .headers = {{"Content-Type", "application/json"}},
                   .body = value::to_json(value)});
}

void answer(const Reply& reply, const Problem& problem) {
    reply->answer(to_response(problem));
}

void answer(const Reply& reply, const Result<Value>& result) {
    if (result) {
        answer(reply, 200, *result);
    } else {
        answer(reply, problem_of(result.error()));
    }
}

} // namespace sluice::server
