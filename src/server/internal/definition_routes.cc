#include <utility>

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
    auto& catalog = services.engine.catalog();
    auto hash = TRY(catalog.find(incoming.space, incoming.part("definition")));
    auto definition = TRY(catalog.definition(hash));
    return Value::object({{"definition", definition.name},
                          {"version", hash},
                          {"language", definition.language},
                          {"source", definition.source}});
}

} // namespace

void add_definition_routes(RouteTable& routes, const Services& services) {
    routes.add({http::Method::Post,
                "/v1/definitions",
                {Role::Operator, true},
                [&services](const Incoming& incoming, const Reply& reply) {
                    define(services, incoming, reply);
                }});
    routes.add({http::Method::Post,
                "/v1/definitions/validate",
                {Role::Reader, true, false}, // Changes nothing.
                [&services](const Incoming& incoming, const Reply& reply) {
                    validate(services, incoming, reply);
                }});
    routes.add({http::Method::Get,
                "/v1/definitions/{definition}",
                {Role::Reader, true},
                [&services](const Incoming& incoming, const Reply& reply) {
                    answer(reply, view(services, incoming));
                }});
}

} // namespace sluice::server
