#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "server/services.h"

namespace sluice::server {

namespace {

/// The text format of Prometheus.
std::string metrics_text(const Services& services) {
    auto text = services.metrics.to_prometheus("sluice_");
    auto add = [&](std::string_view name, std::string_view type, std::uint64_t value) {
        fmt::format_to(std::back_inserter(text), "# TYPE sluice_{0} {1}\nsluice_{0} {2}\n", name,
                       type, value);
    };
    auto stats = services.engine.stats();
    add("events_total", "counter", stats.events);
    add("fired_total", "counter", stats.fired);
    add("commits_total", "counter", stats.commits);
    add("commit_bytes_total", "counter", stats.commit_bytes);
    add("backlog", "gauge", stats.backlog);
    add("outbox", "gauge", stats.outbox);
    add("awake_runs", "gauge", stats.awake_runs);
    add("quarantined_events", "gauge", stats.quarantined);
    add("tasks_pending", "gauge", services.engine.pending_tasks());
    add("disk_bytes", "gauge", services.store.disk_bytes());
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
                    if (services.is_stopping != nullptr && *services.is_stopping) {
                        answer(reply, Problem{.status = 503,
                                              .code = "stopping",
                                              .detail = "this server was asked to stop"});
                    } else if (services.store.is_writable()) {
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
