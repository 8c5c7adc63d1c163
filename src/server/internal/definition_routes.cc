#include <algorithm>
#include <future>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "server/internal/requests.h"
#include "server/services.h"
#include "value/json.h"

namespace sluice::server {

namespace {

Problem invalid_definition(std::vector<Value> findings) {
    return {.status = 422,
            .code = "invalid_definition",
            .detail = "the definition has mistakes: see findings",
            .more = Value::object({{"findings", Value::list(std::move(findings))}})};
}

/// Runs that wait hear of a strategy that they have room by.
Result<void> apply_strategies(const Services& services, const std::string& space,
                              const std::vector<engine::Definition>& definitions) {
    for (const auto& definition : definitions) {
        auto applied = std::promise<Result<Value>>{};
        services.engine.apply_strategy(space, definition.name, [&](Result<Value> done) {
            applied.set_value(std::move(done));
        });
        std::ignore = TRY(applied.get_future().get());
    }
    return {};
}

/// The body is the definition's text, in whatever language it is written.
void define(const Services& services, const Incoming& incoming, const Reply& reply) {
    auto compiled = services.compile(incoming.request.body, "definition");
    if (!compiled) {
        answer(reply, invalid_definition(std::move(compiled.error())));
        return;
    }
    auto& catalog = services.engine.catalog();
    auto hash = std::string{};
    for (const auto& definition : *compiled) {
        auto refused = services.quotas == nullptr
                           ? std::nullopt
                           : services.quotas->refuse_definition(incoming.space, definition.name);
        if (refused) {
            answer(reply, *refused);
            return;
        }
        auto added = catalog.add(incoming.space, definition);
        if (!added) {
            answer(reply, problem_of(added.error()));
            return;
        }
        hash = *added;
    }
    if (auto applied = apply_strategies(services, incoming.space, *compiled); !applied) {
        answer(reply, problem_of(applied.error()));
        return;
    }
    answer(reply, 201, Value::object({{"definition", compiled->back().name}, {"version", hash}}));
}

void validate(const Services& services, const Incoming& incoming, const Reply& reply) {
    auto compiled = services.compile(incoming.request.body, "definition");
    auto findings = compiled ? std::vector<Value>{} : std::move(compiled.error());
    answer(reply, 200,
           Value::object(
               {{"valid", findings.empty()}, {"findings", Value::list(std::move(findings))}}));
}

Result<Value> view(const Services& services, const Incoming& incoming) {
    TRY(check_query(incoming, {"version"}));
    auto& catalog = services.engine.catalog();
    const auto& name = incoming.part("definition");
    const auto* version = incoming.query("version");
    auto found = version == nullptr ? catalog.find(incoming.space, name)
                                    : catalog.find_version(incoming.space, name, *version);
    auto hash = TRY(std::move(found));
    auto definition = TRY(catalog.definition(hash));
    return Value::object({{"definition", definition.name},
                          {"version", hash},
                          {"language", definition.language},
                          {"source", definition.source}});
}

Result<Value> list(const Services& services, const Incoming& incoming) {
    TRY(check_query(incoming, {"limit", "cursor"}));
    auto limit = TRY(read_limit(incoming));
    const auto* cursor = incoming.query("cursor");
    auto named = TRY(services.engine.catalog().list(incoming.space,
                                                    cursor == nullptr ? "" : *cursor, limit + 1));
    auto has_more = named.size() > limit;
    named.resize(std::min(named.size(), limit));
    auto views = std::vector<Value>{};
    for (const auto& each : named) {
        views.push_back(Value::object({{"definition", each.name}, {"version", each.hash}}));
    }
    return Value::object({{"definitions", Value::list(std::move(views))},
                          {"cursor", has_more ? Value{named.back().name} : Value{}}});
}

Result<Value> list_versions(const Services& services, const Incoming& incoming) {
    TRY(check_query(incoming, {}));
    auto& catalog = services.engine.catalog();
    const auto& name = incoming.part("definition");
    static_cast<void>(TRY(catalog.find(incoming.space, name)));
    auto views = std::vector<Value>{};
    for (const auto& each : TRY(catalog.versions(incoming.space, name))) {
        views.push_back(Value::object(
            {{"number", static_cast<std::int64_t>(each.number)}, {"version", each.hash}}));
    }
    return Value::object({{"definition", name}, {"versions", Value::list(std::move(views))}});
}

/// Compiling takes as long as the definition is, and keeping it waits for the disk.
using Act = void (*)(const Services&, const Incoming&, const Reply&);
Handle act(const Services& services, Act handle) {
    return on_worker(services, [&services, handle](const Incoming& incoming, const Reply& reply) {
        handle(services, incoming, reply);
    });
}

using Look = Result<Value> (*)(const Services&, const Incoming&);
Handle look(const Services& services, Look read) {
    return on_worker(services, [&services, read](const Incoming& incoming, const Reply& reply) {
        answer(reply, read(services, incoming));
    });
}

} // namespace

void add_definition_routes(RouteTable& routes, const Services& services) {
    auto reader = Policy{Role::Reader, true};
    routes.add(
        {http::Method::Post, "/v1/definitions", {Role::Operator, true}, act(services, define)});
    routes.add({http::Method::Post,
                "/v1/definitions/validate",
                {Role::Reader, true, false}, // Changes nothing.
                act(services, validate)});
    routes.add({http::Method::Get, "/v1/definitions", reader, look(services, list)});
    routes.add({http::Method::Get, "/v1/definitions/{definition}", reader, look(services, view)});
    routes.add({http::Method::Get, "/v1/definitions/{definition}/versions", reader,
                look(services, list_versions)});
}

} // namespace sluice::server
