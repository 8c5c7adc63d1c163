#include <utility>

#include <fmt/format.h>

#include "server/services.h"

namespace sluice::server {

namespace {

Problem no_such_function(const std::string& name) {
    return {.status = 404,
            .code = "not_found",
            .detail = fmt::format("there is no function \"{}\"", name)};
}

void put_function(const Services& services, const Incoming& incoming, const Reply& reply) {
    auto form = incoming.json();
    if (!form) {
        answer(reply, problem_of(form.error()));
        return;
    }
    auto made = services.functions->put(incoming.space, incoming.part("function"), *form);
    if (made) {
        answer(reply, 200, *made);
    } else {
        answer(reply, made.error());
    }
}

void remove_function(const Services& services, const Incoming& incoming, const Reply& reply) {
    const auto& name = incoming.part("function");
    auto removed = services.functions->remove(incoming.space, name);
    if (removed) {
        answer(reply, 200, Value::object({{"function", name}}));
    } else {
        answer(reply, removed.error());
    }
}

void view_function(const Services& services, const Incoming& incoming, const Reply& reply) {
    const auto& name = incoming.part("function");
    if (auto found = services.functions->find(incoming.space, name)) {
        answer(reply, 200, *found);
    } else {
        answer(reply, no_such_function(name));
    }
}

} // namespace

void add_function_routes(RouteTable& routes, const Services& services) {
    routes.add({http::Method::Get,
                "/v1/functions",
                {Role::Reader, true},
                [&services](const Incoming& incoming, const Reply& reply) {
                    auto functions = services.functions->list(incoming.space);
                    answer(reply, 200,
                           Value::object({{"functions", Value::list(std::move(functions))}}));
                }});
    routes.add({http::Method::Get,
                "/v1/functions/{function}",
                {Role::Reader, true},
                [&services](const Incoming& incoming, const Reply& reply) {
                    view_function(services, incoming, reply);
                }});
    routes.add({http::Method::Put,
                "/v1/functions/{function}",
                {Role::Admin, true},
                on_worker(services, [&services](const Incoming& incoming, const Reply& reply) {
                    put_function(services, incoming, reply);
                })});
    routes.add({http::Method::Delete,
                "/v1/functions/{function}",
                {Role::Admin, true},
                on_worker(services, [&services](const Incoming& incoming, const Reply& reply) {
                    remove_function(services, incoming, reply);
                })});
}

} // namespace sluice::server
