#include <utility>
#include <vector>

#include <fmt/format.h>

#include "server/services.h"

namespace sluice::server {

namespace {

/// The text format of Prometheus.
std::string metrics_text(const Services& services) {
    auto text = std::string{};
    auto stats = services.engine.stats();
    auto add = [&](std::string_view name, std::uint64_t value) {
        fmt::format_to(std::back_inserter(text), "# TYPE sluice_{0} counter\nsluice_{0} {1}\n",
                       name, value);
    };
    add("fired_total", stats.fired);
    add("commits_total", stats.commits);
    add("commit_bytes_total", stats.commit_bytes);
    for (const auto& [name, value] : services.metrics.snapshot()) {
        fmt::format_to(std::back_inserter(text), "# TYPE sluice_{0} untyped\nsluice_{0} {1}\n",
                       name, value);
    }
    fmt::format_to(std::back_inserter(text),
                   "# TYPE sluice_tasks_pending gauge\nsluice_tasks_pending {}\n",
                   services.engine.pending_tasks());
    return text;
}

} // namespace

Value metrics_view(const Services& services) {
    auto stats = services.engine.stats();
    auto count = [](std::uint64_t value) { return Value{static_cast<std::int64_t>(value)}; };
    auto members =
        std::vector<value::Member>{{"fired_total", count(stats.fired)},
                                   {"commits_total", count(stats.commits)},
                                   {"commit_bytes_total", count(stats.commit_bytes)},
                                   {"tasks_pending", count(services.engine.pending_tasks())}};
    for (const auto& [name, value] : services.metrics.snapshot()) {
        members.push_back({name, value});
    }
    return Value::map(std::move(members));
}

void add_operation_routes(RouteTable& routes, const Services& services) {
    routes.add({http::Method::Get,
                "/healthz",
                {Role::Anyone, false},
                [&services](const Incoming&, const Reply& reply) {
                    answer(reply, 200, Value::object({{"version", services.version}}));
                }});
    routes.add({http::Method::Get,
                "/readyz",
                {Role::Anyone, false},
                [&services](const Incoming&, const Reply& reply) {
                    if (services.store.is_writable()) {
                        answer(reply, 200, Value::object({{"ready", true}}));
                    } else {
                        answer(reply, Problem{.status = 503,
                                              .code = "no_space",
                                              .detail = "the disk is nearly full: nothing is taken "
                                                        "until there is room",
                                              .headers = {{"Retry-After", "10"}}});
                    }
                }});
    routes.add({http::Method::Get,
                "/metrics",
                {Role::Reader, false},
                [&services](const Incoming&, const Reply& reply) {
                    reply->answer({.headers = {{"Content-Type", "text/plain; version=0.0.4"}},
                                   .body = metrics_text(services)});
                }});
}

} // namespace sluice::server
