#include "server/gateway.h"

#include <algorithm>
#include <utility>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/utf8.h"

namespace sluice::server {

namespace {

constexpr std::string_view bearer = "Bearer ";
constexpr auto space_bytes_max = std::size_t{200};
constexpr auto target_bytes_max = std::size_t{1'000};

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

/// Tells the audit how a change ended.
class AuditedReply final : public http::Exchange {
public:
    AuditedReply(Reply reply, Audit& audit, AuditRecord record)
        : reply_(std::move(reply)), audit_(audit), record_(std::move(record)) {}
    ~AuditedReply() override {
        // Nobody answered, so the other side gets 500.
        if (record_.status == 0) {
            note(500);
        }
    }
    AuditedReply(const AuditedReply&) = delete;
    AuditedReply& operator=(const AuditedReply&) = delete;

    void answer(http::Response response) override {
        note(response.status);
        reply_->answer(std::move(response));
    }
    std::shared_ptr<http::Stream> stream(http::Response head,
                                         std::function<void()> on_close) override {
        note(head.status);
        return reply_->stream(std::move(head), std::move(on_close));
    }

private:
    void note(int status) {
        record_.status = static_cast<std::uint32_t>(status);
        audit_.add(record_);
    }

    Reply reply_;
    Audit& audit_;
    AuditRecord record_;
};

/// What keys and tokens can hold, and people can read.
bool is_namespace(std::string_view name) {
    return !name.empty() && name.size() <= space_bytes_max && is_utf8(name) &&
           std::ranges::none_of(name, [](unsigned char byte) {
               return byte <= 0x20 || byte == 0x7F || byte == '/';
           });
}

/// The path as it was asked for; a part that is a token itself is left out.
std::string target_of(const Route& route, const Incoming& incoming) {
    auto target = std::string{};
    for (const auto& segment : incoming.target.segments) {
        auto token = incoming.path.find("token");
        auto is_hidden = token != incoming.path.end() && token->second == segment;
        target += "/" + (is_hidden ? std::string{"…"} : segment);
    }
    return target.size() > target_bytes_max ? route.pattern : target;
}

Problem token_problem(TokenFault fault) {
    auto is_expired = fault == TokenFault::Expired;
    return {.status = 401,
            .code = is_expired ? "token_expired" : "unauthorized",
            .detail = is_expired ? "the time of this token is over: ask for a new one"
                                 : "this token is not known, or was revoked",
            .headers = {{"WWW-Authenticate", "Bearer error=\"invalid_token\""}}};
}

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

Problem unknown_namespace(std::string_view space) {
    return {.status = 404,
            .code = "unknown_namespace",
            .detail = fmt::format("there is no namespace \"{}\": an administrator makes it with "
                                  "PUT /v1/namespaces/{}",
                                  space, space)};
}

} // namespace

Gateway::Gateway(RouteTable routes, const TokenTable& tokens, observe::Metrics& metrics,
                 GatewayOptions options)
    : routes_(std::move(routes)),
      tokens_(tokens),
      requests_(metrics.counter("http_requests_total")),
      refused_(metrics.counter("http_requests_refused_total")),
      options_(std::move(options)),
      rates_(options_.clock == nullptr ? Rate{} : options_.requests) {
    set_names(options_.hosts, options_.origins);
}

void Gateway::set_names(std::vector<std::string> hosts, std::vector<std::string> origins) {
    auto next = std::make_shared<const Names>(std::move(hosts), std::move(origins));
    auto lock = std::lock_guard{mutex_};
    names_ = std::move(next);
}

std::shared_ptr<const Gateway::Names> Gateway::names() const {
    auto lock = std::lock_guard{mutex_};
    return names_;
}

void Gateway::handle(http::Request request, const Reply& reply) const {
    requests_.add();
    const auto* origin = request.headers.find("Origin");
    if (origin == nullptr || !is_known_origin(*origin)) {
        const auto* protocol = protocol_of(request);
        dispatch(std::move(request), protocol == nullptr ? reply : protocol->translated(reply));
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
    if (is_foreign_page(request)) {
        refuse({.status = 403,
                .code = "foreign_origin",
                .detail = "pages of this origin may change nothing: list it under origins in the "
                          "configuration"});
        return;
    }
    auto target = http::parse_target(request.target);
    if (!target) {
        refuse(problem_of(target.error()));
        return;
    }
    if (const auto* protocol = protocol_of(request)) {
        target->segments = protocol->segments(request);
    }
    auto found = routes_.find(request.method, target->segments);
    if (const auto* methods = std::get_if<std::vector<http::Method>>(&found)) {
        refuse(methods->empty()
                   ? Problem{.status = 404, .code = "not_found", .detail = "there is no such path"}
                   : method_problem(*methods));
        return;
    }
    auto caller = caller_of(request);
    if (rates_.is_set()) {
        if (auto too_many = refuse_rate(caller, request)) {
            refuse(*too_many);
            return;
        }
    }
    auto* problem = std::get_if<Problem>(&caller);
    auto& match = std::get<RouteTable::Match>(found);
    auto incoming = Incoming{.request = std::move(request),
                             .target = *std::move(target),
                             .path = std::move(match.path),
                             .caller = problem ? Caller{} : std::get<Caller>(std::move(caller))};
    if (auto named = incoming.path.find("namespace"); named != incoming.path.end()) {
        incoming.space = named->second;
    } else if (const auto* space = incoming.query("namespace")) {
        incoming.space = *space;
    } else if (!incoming.caller.space.empty()) {
        incoming.space = incoming.caller.space;
    }
    if (!is_namespace(incoming.space)) {
        refuse({.status = 400,
                .code = "invalid_input",
                .detail = fmt::format("namespace: expected 1 to {} bytes of UTF-8 without spaces, "
                                      "slashes and controls",
                                      space_bytes_max)});
        return;
    }
    const auto& policy = match.route->policy;
    auto is_audited = options_.audit != nullptr && match.route->is_audited();
    auto told = is_audited ? audited(reply, *match.route, incoming) : reply;
    auto refusal = problem ? std::optional{*std::move(problem)}
                           : refusal_of(policy, incoming.caller, incoming.space);
    if (refusal) {
        refused_.add();
        answer(told, *refusal);
        return;
    }
    if (policy.is_namespaced && options_.namespaces != nullptr &&
        !options_.namespaces->contains(incoming.space)) {
        refused_.add();
        answer(told, unknown_namespace(incoming.space));
        return;
    }
    match.route->handle(std::move(incoming), std::move(told));
}

Reply Gateway::audited(const Reply& reply, const Route& route, const Incoming& incoming) const {
    return std::make_shared<AuditedReply>(
        reply, *options_.audit,
        AuditRecord{.who = incoming.caller.name,
                    .method = std::string{http::to_string(route.method)},
                    .route = route.pattern,
                    .space = route.policy.is_namespaced ? incoming.space : std::string{},
                    .target = target_of(route, incoming),
                    .peer = incoming.request.peer});
}

bool Gateway::is_known_host(const http::Request& request) const {
    const auto* host = request.headers.find("Host");
    if (host == nullptr) {
        return false;
    }
    auto name = host_name(*host);
    if (const auto* protocol = protocol_of(request)) {
        name = protocol->host(name);
    }
    return is_address(name) || http::is_same_name(name, "localhost") ||
           std::ranges::any_of(names()->hosts,
                               [&](const auto& each) { return http::is_same_name(each, name); });
}

/// A browser lets any page send a form anywhere. With a token it asks before; without one, where
/// nobody needs one, this is all that stands between the page and the server.
bool Gateway::is_foreign_page(const http::Request& request) const {
    const auto* origin = request.headers.find("Origin");
    if (origin == nullptr || !http::is_change(request.method) ||
        request.headers.find("Authorization") != nullptr) {
        return false;
    }
    auto at = origin->find("://");
    auto host =
        at == std::string::npos ? std::string_view{} : std::string_view{*origin}.substr(at + 3);
    return !http::is_same_name(host, *request.headers.find("Host")) && !is_known_origin(*origin);
}

bool Gateway::is_known_origin(std::string_view origin) const {
    auto known = names();
    return std::ranges::find(known->origins, origin) != known->origins.end();
}

std::optional<Problem> Gateway::refuse_rate(const std::variant<Caller, Problem>& caller,
                                            const http::Request& request) const {
    const auto* known = std::get_if<Caller>(&caller);
    auto has_token = known != nullptr && request.headers.find("Authorization") != nullptr;
    auto name = has_token ? "token " + known->name : "address " + request.peer;
    auto wait = rates_.take(name, options_.clock->steady());
    if (wait == Nanos{0}) {
        return std::nullopt;
    }
    auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
    return Problem{.status = 429,
                   .code = "too_many_requests",
                   .detail = fmt::format("the {} may ask {} times a second: ask again later", name,
                                         options_.requests.per_second),
                   .headers = {{"Retry-After", std::to_string(seconds)}}};
}

const Protocol* Gateway::protocol_of(const http::Request& request) const {
    const auto* protocol = options_.protocol;
    return protocol != nullptr && protocol->speaks(request) ? protocol : nullptr;
}

std::variant<Caller, Problem> Gateway::caller_of(const http::Request& request) const {
    const auto* header = request.headers.find("Authorization");
    const auto* protocol = protocol_of(request);
    auto is_signed = protocol != nullptr && protocol->is_signed(request);
    // Clients that cannot do without a signature make one of anything: here it is not read.
    if (header == nullptr || (is_signed && options_.is_open && tokens_.is_empty())) {
        return options_.is_open && tokens_.is_empty() ? Caller{.name = "local", .role = Role::Admin}
                                                      : Caller{};
    }
    if (is_signed) {
        return protocol->signer_of(request);
    }
    auto text = std::string_view{*header};
    if (text.size() <= bearer.size() ||
        !http::is_same_name(text.substr(0, bearer.size()), bearer)) {
        auto problem = token_problem(TokenFault::Unknown);
        problem.detail = "write Authorization: Bearer and the token";
        return problem;
    }
    auto caller = tokens_.find(text.substr(bearer.size()));
    if (!caller) {
        return token_problem(caller.error());
    }
    return *std::move(caller);
}

void answer_while_starting(const http::Request& request, const Reply& reply,
                           std::string_view version) {
    if (request.target == "/healthz") {
        answer(reply, 200, Value::object({{"version", version}}));
        return;
    }
    answer(reply, Problem{.status = 503,
                          .code = "starting",
                          .detail = "this server is reading what it has kept",
                          .headers = {{"Retry-After", "1"}}});
}

} // namespace sluice::server
