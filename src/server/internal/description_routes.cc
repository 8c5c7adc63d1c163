#include <memory>
#include <utility>
#include <vector>

#include "server/internal/description.h"
#include "server/services.h"

// What there is to ask for, for programs that want to know.
namespace sluice::server {

namespace {

Value view_of(const Route& route) {
    return Value::object({{"method", http::to_string(route.method)},
                          {"path", route.pattern},
                          {"role", to_string(route.policy.least)},
                          {"namespaced", route.policy.is_namespaced}});
}

} // namespace

void add_description_routes(RouteTable& routes) {
    constexpr auto anyone = Policy{Role::Anyone, false};
    auto listed = std::make_shared<Value>(); // Itself among them, so it is filled last.
    routes.add(
        {http::Method::Get, "/openapi.json", anyone, [](const Incoming&, const Reply& reply) {
             reply->answer({.headers = {{"Content-Type", "application/json"}},
                            .body = std::string{openapi_description}});
         }});
    routes.add({http::Method::Get, "/v1/api", anyone,
                [listed](const Incoming&, const Reply& reply) { answer(reply, 200, *listed); }});
    auto views = std::vector<Value>{};
    for (const auto& route : routes.all()) {
        views.push_back(view_of(*route));
    }
    *listed = Value::object({{"routes", Value::list(std::move(views))}});
}

} // namespace sluice::server
