#include <algorithm>
#include <expected>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "event/codec.h"
#include "event/http_binding.h"
#include "server/event_router.h"
#include "server/services.h"

namespace sluice::server {

namespace {

Result<std::vector<Event>> read_events(const Incoming& incoming, const std::string& run) {
    thread_local auto codec = event::Codec{};
    auto fields = std::vector<event::HttpField>{};
    for (const auto& [name, value] : incoming.request.headers.all()) {
        fields.emplace_back(name, value);
    }
    auto events = TRY(event::read_http(codec, fields, incoming.request.body));
    for (auto& event : events) {
        if (!run.empty()) {
            event = TRY(with_run(codec, event, run));
        }
    }
    return events;
}

/// What was not taken, worst first; null: everything was.
const Problem* worst(const std::vector<std::pair<std::size_t, Problem>>& problems) {
    auto found =
        std::ranges::max_element(problems, {}, [](const auto& each) { return each.second.status; });
    return found == problems.end() ? nullptr : &found->second;
}

void answer_refused(const Reply& reply,
                    const std::vector<std::pair<std::size_t, Problem>>& problems) {
    auto told = *worst(problems);
    auto indexes = std::vector<Value>{};
    std::ranges::transform(problems, std::back_inserter(indexes), [](const auto& each) {
        return Value{static_cast<std::int64_t>(each.first)};
    });
    told.more = Value::object({{"events", Value::list(std::move(indexes))}});
    answer(reply, told);
}

void answer_receipt(const Reply& reply, const Result<engine::Receipt>& receipt) {
    if (!receipt) {
        answer(reply, problem_of(receipt.error()));
        return;
    }
    auto problems = std::vector<std::pair<std::size_t, Problem>>{};
    for (auto at = std::size_t{0}; at < receipt->fates.size(); ++at) {
        if (auto problem = problem_of(receipt->fates[at])) {
            problems.emplace_back(at, *std::move(problem));
        }
    }
    if (!problems.empty()) {
        answer_refused(reply, problems);
    } else if (const auto* data = receipt->reply_to(0); data != nullptr) {
        answer(reply, 200, *data);
    } else {
        reply->answer({.status = 202});
    }
}

void answer_routed(const Services& services, const Reply& reply,
                   const std::expected<Routed, Problem>& routed) {
    if (!routed) {
        answer(reply, routed.error());
        return;
    }
    if (auto problems = problems_of(*routed); !problems.empty()) {
        answer_refused(reply, problems);
        return;
    }
    if (routed->reply) {
        answer(reply, 200, *routed->reply);
        return;
    }
    auto response = http::Response{.status = 202};
    if (routed->unrouted > 0) {
        services.metrics.counter("events_unrouted").add(routed->unrouted);
        response.headers.add("Sluice-Unrouted", std::to_string(routed->unrouted));
    }
    reply->answer(std::move(response));
}

void take_events(const Services& services, const Incoming& incoming, const Reply& reply,
                 const std::string& run) {
    auto events = read_events(incoming, run);
    if (!events) {
        answer(reply, problem_of(events.error()));
        return;
    }
    if (events->empty()) {
        reply->answer({.status = 202});
        return;
    }
    if (services.quotas != nullptr) {
        if (auto problem = services.quotas->refuse_events(incoming.space, events->size())) {
            answer(reply, *problem);
            return;
        }
    }
    auto names_run = [](const Event& event) { return !event.run().empty(); };
    if (services.router != nullptr && !std::ranges::all_of(*events, names_run)) {
        services.router->take(
            incoming.space, *std::move(events),
            [&services, reply](const auto& routed) { answer_routed(services, reply, routed); });
        return;
    }
    services.engine.send(incoming.space, *std::move(events),
                         [reply](const auto& receipt) { answer_receipt(reply, receipt); });
}

/// The handshake of webhooks: whoever asks may send, at the rate it asks for.
void allow_webhook(const Incoming& incoming, const Reply& reply) {
    auto headers = http::Headers{{"Allow", "POST"}};
    if (const auto* origin = incoming.request.headers.find("WebHook-Request-Origin")) {
        headers.add("WebHook-Allowed-Origin", *origin);
        const auto* rate = incoming.request.headers.find("WebHook-Request-Rate");
        headers.add("WebHook-Allowed-Rate", rate == nullptr ? "*" : *rate);
    }
    reply->answer({.status = 200, .headers = std::move(headers)});
}

} // namespace

void add_event_routes(RouteTable& routes, const Services& services) {
    routes.add({http::Method::Post,
                "/events",
                {Role::Operator, true, false},
                [&services](const Incoming& incoming, const Reply& reply) {
                    take_events(services, incoming, reply, "");
                }});
    routes.add({http::Method::Post,
                "/v1/runs/{run}/events",
                {Role::Operator, true, false},
                [&services](const Incoming& incoming, const Reply& reply) {
                    take_events(services, incoming, reply, incoming.part("run"));
                }});
    for (const auto* path : {"/events", "/v1/runs/{run}/events"}) {
        routes.add({http::Method::Options, path, {Role::Anyone, false}, allow_webhook});
    }
}

} // namespace sluice::server
