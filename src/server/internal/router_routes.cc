#include <utility>

#include <fmt/format.h>

#include "event/http_binding.h"
#include "server/event_router.h"
#include "server/services.h"

namespace sluice::server {

namespace {

Value view_of_route(const Document& document) {
    return document.content.with("route", document.name);
}

Result<Value> list_routes(const EventRouter& router, const Incoming& incoming) {
    auto routes = std::vector<Value>{};
    for (const auto& document : router.documents().list(EventRouter::kind, incoming.space)) {
        routes.push_back(view_of_route(document));
    }
    return Value::object({{"routes", Value::list(std::move(routes))}});
}

Result<Value> show_route(const EventRouter& router, const Incoming& incoming) {
    auto found = router.documents().find(EventRouter::kind, incoming.space, incoming.part("route"));
    if (!found) {
        return fail(Errc::NotFound, "there is no route \"{}\"", incoming.part("route"));
    }
    return view_of_route(*found);
}

/// The same route again changes nothing.
Result<Value> put_route(EventRouter& router, const Incoming& incoming) {
    auto form = TRY(incoming.json());
    const auto& name = incoming.part("route");
    TRY(router.put(incoming.space, name, form.without("route")));
    return show_route(router, incoming);
}

Result<Value> remove_route(EventRouter& router, const Incoming& incoming) {
    TRY(router.remove(incoming.space, incoming.part("route")));
    return Value::object({{"removed", incoming.part("route")}});
}

std::string_view start_name(EventRoute::Start start) {
    switch (start) {
        case EventRoute::Start::Never: return "never";
        case EventRoute::Start::IfNone: return "if_none";
        case EventRoute::Start::Always: return "always";
    }
    return "never";
}

Value view_of_choice(const EventRouter::Choice& choice) {
    const auto& route = *choice.route;
    auto view = Value::object({{"route", route.name},
                               {"run", choice.run ? Value{*choice.run} : Value{}},
                               {"start", start_name(route.start)}});
    if (!route.definition.empty()) {
        view = view.with("definition", route.definition);
    }
    return choice.run ? view
                      : view.with("reason", fmt::format("the event has no {}", route.key->text()));
}

/// Where events would go, without sending them.
Result<Value> test_routes(const EventRouter& router, const Incoming& incoming) {
    auto codec = event::Codec{};
    auto fields = std::vector<event::HttpField>{};
    for (const auto& [name, value] : incoming.request.headers.all()) {
        fields.emplace_back(name, value);
    }
    auto table = router.table_of(incoming.space);
    auto events = std::vector<Value>{};
    for (const auto& event : TRY(event::read_http(codec, fields, incoming.request.body))) {
        auto view = Value::object({{"event", event.id()}});
        if (!event.run().empty()) {
            events.push_back(view.with("run", event.run()));
            continue;
        }
        auto routes = std::vector<Value>{};
        for (const auto& choice : EventRouter::choices(*table, event)) {
            routes.push_back(view_of_choice(choice));
        }
        events.push_back(view.with("routes", Value::list(std::move(routes))));
    }
    return Value::object({{"events", Value::list(std::move(events))}});
}

} // namespace

void add_router_routes(RouteTable& routes, const Services& services, EventRouter& router) {
    auto change = [&](http::Method method, Result<Value> (*handle)(EventRouter&, const Incoming&)) {
        routes.add({method,
                    "/v1/routes/{route}",
                    {Role::Operator, true},
                    [&services, &router, handle](const Incoming& incoming, const Reply& reply) {
                        answer_from_worker(services, reply, [&router, handle, incoming] {
                            return handle(router, incoming);
                        });
                    }});
    };
    auto look = [&](http::Method method, std::string path,
                    Result<Value> (*handle)(const EventRouter&, const Incoming&)) {
        routes.add({method,
                    std::move(path),
                    {Role::Reader, true},
                    [&router, handle](const Incoming& incoming, const Reply& reply) {
                        answer(reply, handle(router, incoming));
                    }});
    };
    look(http::Method::Get, "/v1/routes", list_routes);
    look(http::Method::Post, "/v1/routes/test", test_routes);
    look(http::Method::Get, "/v1/routes/{route}", show_route);
    change(http::Method::Put, put_route);
    change(http::Method::Delete, remove_route);
}

} // namespace sluice::server
