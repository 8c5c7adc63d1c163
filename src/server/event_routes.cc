#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "event/codec.h"
#include "event/http_binding.h"
#include "server/services.h"
#include "value/json.h"

namespace sluice::server {

namespace {

/// The one that the path names; an event that names another is refused.
Result<Event> with_run(event::Codec& codec, const Event& event, const std::string& run) {
    if (!event.run().empty()) {
        if (event.run() != run) {
            return fail(Errc::InvalidInput,
                        "event {} names the run {}, the path {}: send it to "
                        "/events",
                        event.id(), event.run(), run);
        }
        return event;
    }
    auto json = std::string{R"({"run":)"};
    value::write_json_string(run, json);
    json += ',';
    json += event.json().substr(1);
    return codec.parse(json);
}

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
        } else if (event.run().empty()) {
            return fail(Errc::NotFound, "event {} names no run, and no route takes it", event.id());
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

std::optional<Problem> problem_of_fate(trigger::Fate fate) {
    switch (fate) {
        case trigger::Fate::NoSuchRun:
            return Problem{.status = 404, .code = "not_found", .detail = "there is no such run"};
        case trigger::Fate::Refused:
        case trigger::Fate::Busy:
            return Problem{.status = 429,
                           .code = "run_full",
                           .detail = "the run keeps as many events as it may",
                           .headers = {{"Retry-After", "1"}}};
        default: return std::nullopt;
    }
}

void answer_receipt(const Reply& reply, const Result<engine::Receipt>& receipt) {
    if (!receipt) {
        answer(reply, problem_of(receipt.error()));
        return;
    }
    auto problems = std::vector<std::pair<std::size_t, Problem>>{};
    for (auto at = std::size_t{0}; at < receipt->fates.size(); ++at) {
        if (auto problem = problem_of_fate(receipt->fates[at])) {
            problems.emplace_back(at, *std::move(problem));
        }
    }
    if (const auto* problem = worst(problems)) {
        auto told = *problem;
        auto indexes = std::vector<Value>{};
        std::ranges::transform(problems, std::back_inserter(indexes), [](const auto& each) {
            return Value{static_cast<std::int64_t>(each.first)};
        });
        told.more = Value::object({{"events", Value::list(std::move(indexes))}});
        answer(reply, told);
    } else if (const auto* data = receipt->reply_to(0); data != nullptr) {
        answer(reply, 200, *data);
    } else {
        reply->answer({.status = 202});
    }
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
                {Role::Operator, true},
                [&services](const Incoming& incoming, const Reply& reply) {
                    take_events(services, incoming, reply, "");
                }});
    routes.add({http::Method::Post,
                "/v1/runs/{run}/events",
                {Role::Operator, true},
                [&services](const Incoming& incoming, const Reply& reply) {
                    take_events(services, incoming, reply, incoming.part("run"));
                }});
    for (const auto* path : {"/events", "/v1/runs/{run}/events"}) {
        routes.add({http::Method::Options, path, {Role::Anyone, false}, allow_webhook});
    }
}

} // namespace sluice::server
