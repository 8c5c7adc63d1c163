#include <future>
#include <utility>
#include <vector>

#include "engine/run_index.h"
#include "server/services.h"

namespace sluice::server {

namespace {

Value view_namespace(const Document& document) {
    const auto* description = document.content.find("description");
    return Value::object({{"namespace", document.name},
                          {"description", description == nullptr ? Value{} : *description}});
}

Value list_namespaces(const Namespaces& namespaces) {
    auto listed = std::vector<Value>{};
    for (const auto& document : namespaces.list()) {
        listed.push_back(view_namespace(document));
    }
    return Value::object({{"namespaces", Value::list(std::move(listed))}});
}

Result<Value> put_namespace(Namespaces& namespaces, const Incoming& incoming) {
    auto body = TRY(incoming.json());
    for (const auto& [name, value] : body.as_map()) {
        if (name != "description" || !value.is_string()) {
            return fail(Errc::InvalidInput, "{}: expected description (a text), or nothing", name);
        }
    }
    const auto& name = incoming.part("namespace");
    TRY(namespaces.put(name, body));
    return view_namespace({.space = "", .name = name, .content = body});
}

/// What runs shared that are gone.
Result<void> remove_standing_runs(const Services& services, const std::string& name) {
    auto filter = engine::RunFilter{.space = name, .listed = engine::RunsListed::Standing};
    do {
        auto page = TRY(engine::list_runs(services.store, filter));
        for (const auto& listed : page.runs) {
            auto removed = std::promise<Result<Value>>{};
            services.engine.remove_standing(
                listed.run, [&](Result<Value> done) { removed.set_value(std::move(done)); });
            if (auto done = removed.get_future().get();
                !done && done.error().code != Errc::NotFound) {
                return std::unexpected(done.error());
            }
        }
        filter.cursor = std::move(page.cursor);
    } while (!filter.cursor.empty());
    return {};
}

/// Of a namespace that nobody can use any more: its definitions and quota go with it, and its
/// standing runs.
Result<void> empty_namespace(const Services& services, const std::string& name) {
    auto runs = TRY(engine::list_runs(services.store, {.space = name, .most = 1}));
    if (!runs.runs.empty()) {
        return fail(Errc::Conflict, "the namespace {} has runs: remove them first", name);
    }
    auto kind = TRY(services.documents->kind_in(name, {std::string{Quotas::kind}}));
    if (!kind.empty()) {
        return fail(Errc::Conflict, "the namespace {} has a {}: remove it first", name, kind);
    }
    TRY(remove_standing_runs(services, name));
    TRY(services.engine.catalog().forget(name));
    return services.quotas->find(name) ? services.quotas->remove(name) : Result<void>{};
}

Result<Value> remove_namespace(const Services& services, const Incoming& incoming) {
    const auto& name = incoming.part("namespace");
    TRY(services.namespaces->remove(name, [&] { return empty_namespace(services, name); }));
    return Value::object({{"namespace", name}});
}

} // namespace

void add_namespace_routes(RouteTable& routes, const Services& services) {
    routes.add({http::Method::Get,
                "/v1/namespaces",
                {Role::Reader, false},
                [&services](const Incoming&, const Reply& reply) {
                    answer(reply, 200, list_namespaces(*services.namespaces));
                }});
    routes.add({http::Method::Put,
                "/v1/namespaces/{namespace}",
                {Role::Admin, false},
                on_worker(services, [&services](const Incoming& incoming, const Reply& reply) {
                    answer(reply, put_namespace(*services.namespaces, incoming));
                })});
    routes.add({http::Method::Delete,
                "/v1/namespaces/{namespace}",
                {Role::Admin, false},
                on_worker(services, [&services](const Incoming& incoming, const Reply& reply) {
                    answer(reply, remove_namespace(services, incoming));
                })});
}

} // namespace sluice::server
