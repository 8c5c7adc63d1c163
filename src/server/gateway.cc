#include "server/gateway.h"

#include <algorithm>
#include <utility>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sluice::server {

namespace {

constexpr std::string_view bearer = "Bearer ";

bool is_address(std::string_view host) {
    auto error = boost::system::error_code{};
    boost::asio::ip::make_address(std::string{host}, error);
    return !error;
}

/// The host alone, without port and brackets.
std::string_view host_name(std::string_view host) {
    if (host.starts_with('[')) {
        return host.substr(1, host.find(']') - 1);
    }
    return host.substr(0, host.find(':'));
}

/// Adds what a browser must see, to whatever is answered.
class CrossOriginReply final : public http::Exchange {
public:
    CrossOriginReply(Reply reply, std::string origin)
        : reply_(std::move(reply)), origin_(std::move(origin)) {}

    void answer(http::Response response) override {
        mark(response);
        reply_->answer(std::move(response));
    }
    std::shared_ptr<http::Stream> stream(http::Response head,
                                         std::function<void()> on_close) override {
        mark(head);
        return reply_->stream(std::move(head), std::move(on_close));
    }

    void when_gone(std::function<void()> call) override { reply_->when_gone(std::move(call)); }

private:
    void mark(http::Response& response) const {
        response.headers.set("Access-Control-Allow-Origin", origin_);
        response.headers.set("Vary", "Origin");
    }

    Reply reply_;
    std::string origin_;
};

Problem method_problem(const std::vector<http::Method>& methods) {
    auto allowed = std::vector<std::string_view>{};
    for (auto method : methods) {
        if (method != http::Method::Options) { // A question about the path, not a use of it.
            allowed.push_back(http::to_string(method));
        }
    }
    auto list = fmt::format("{}", fmt::join(allowed, ", "));
    return {.status = 405,
            .code = "method_not_allowed",
            .detail = fmt::format("this path takes {}", list),
            .headers = {{"Allow", list}}};
}

} // namespace

Gateway::Gateway(RouteTable routes, const TokenTable& tokens, observe::Metrics& metrics,
                 GatewayOptions options)
    : routes_(std::move(routes)),
      tokens_(tokens),
      requests_(metrics.counter("http_requests")),
      refused_(metrics.counter("http_requests_refused")),
      options_(std::move(options)) {}

void Gateway::handle(http::Request request, const Reply& reply) const {
    requests_.add();
    const auto* origin = request.headers.find("Origin");
    if (origin == nullptr || !is_known_origin(*origin)) {
        dispatch(std::move(request), reply);
        return;
    }
    auto marked = std::make_shared<CrossOriginReply>(reply, *origin);
    if (request.method == http::Method::Options &&
        request.headers.find("Access-Control-Request-Method") != nullptr) {
        marked->answer(
            {.status = 204,
             .headers = {
                 {"Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE"},
                 {"Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID"},
                 {"Access-Control-Max-Age", "600"}}});
        return;
    }
    dispatch(std::move(request), marked);
}

void Gateway::dispatch(http::Request request, const Reply& reply) const {
    auto refuse = [&](const Problem& problem) {
        refused_.add();
        answer(reply, problem);
    };
    if (!is_known_host(request)) {
        refuse({.status = 421,
                .code = "unknown_host",
                .detail = "the header Host names a host that is not this server: list it under "
                          "hosts in the configuration"});
        return;
    }
    auto target = http::parse_target(request.target);
    if (!target) {
        refuse(problem_of(target.error()));
        return;
    }
    auto found = routes_.find(request.method, target->segments);
    if (const auto* methods = std::get_if<std::vector<http::Method>>(&found)) {
        refuse(methods->empty()
                   ? Problem{.status = 404, .code = "not_found", .detail = "there is no such path"}
                   : method_problem(*methods));
        return;
    }
    auto caller = caller_of(request);
    if (const auto* problem = std::get_if<Problem>(&caller)) {
        refuse(*problem);
        return;
    }
    auto& match = std::get<RouteTable::Match>(found);
    auto incoming = Incoming{.request = std::move(request),
                             .target = *std::move(target),
                             .path = std::move(match.path),
                             .caller = std::get<Caller>(std::move(caller))};
    if (const auto* space = incoming.query("namespace")) {
        incoming.space = *space;
    } else if (!incoming.caller.space.empty()) {
        incoming.space = incoming.caller.space;
    }
    if (auto problem = refusal_of(match.route->policy, incoming.caller, incoming.space)) {
        refuse(*problem);
        return;
    }
    match.route->handle(std::move(incoming), reply);
}

bool Gateway::is_known_host(const http::Request& request) const {
    const auto* host = request.headers.find("Host");
    if (host == nullptr) {
        return false;
    }
    auto name = host_name(*host);
    return is_address(name) || http::is_same_name(name, "localhost") ||
           std::ranges::any_of(options_.hosts,
                               [&](const auto& each) { return http::is_same_name(each, name); });
}

bool Gateway::is_known_origin(std::string_view origin) const {
    return std::ranges::find(options_.origins, origin) != options_.origins.end();
}

std::variant<Caller, Problem> Gateway::caller_of(const http::Request& request) const {
    const auto* header = request.headers.find("Authorization");
    if (header == nullptr) {
        return options_.is_open ? Caller{.name = "local", .role = Role::Admin} : Caller{};
    }
    auto unknown = Problem{.status = 401,
                           .code = "unauthorized",
                           .detail = "this token is not known, or was revoked",
                           .headers = {{"WWW-Authenticate", "Bearer"}}};
    auto text = std::string_view{*header};
    if (text.size() <= bearer.size() ||
        !http::is_same_name(text.substr(0, bearer.size()), bearer)) {
        unknown.detail = "write Authorization: Bearer and the token";
        return unknown;
    }
    auto caller = tokens_.find(text.substr(bearer.size()));
    if (!caller) {
        return unknown;
    }
    return *std::move(caller);
}

} // namespace sluice::server
