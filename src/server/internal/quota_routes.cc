#include "server/services.h"

namespace sluice::server {

namespace {

Result<Value> view_quota(const Quotas& quotas, const Incoming& incoming) {
    auto quota = quotas.find(incoming.space);
    if (!quota) {
        return fail(Errc::NotFound, "the namespace {} has no quota", incoming.space);
    }
    return *std::move(quota);
}

Result<Value> put_quota(const Services& services, const Incoming& incoming) {
    const auto& name = incoming.part("namespace");
    if (!services.namespaces->contains(name)) {
        return fail(Errc::NotFound, "there is no namespace \"{}\"", name);
    }
    auto form = TRY(incoming.json());
    TRY(services.quotas->set(name, form));
    return form;
}

Result<Value> remove_quota(Quotas& quotas, const Incoming& incoming) {
    TRY(quotas.remove(incoming.part("namespace")));
    return Value::object({{"namespace", incoming.part("namespace")}});
}

} // namespace

void add_quota_routes(RouteTable& routes, const Services& services) {
    constexpr auto path = "/v1/namespaces/{namespace}/quota";
    routes.add({http::Method::Get,
                path,
                {Role::Reader, true},
                [&services](const Incoming& incoming, const Reply& reply) {
                    answer(reply, view_quota(*services.quotas, incoming));
                }});
    // Not the namespace's own administrator: a quota protects the others from it.
    routes.add({http::Method::Put,
                path,
                {Role::Admin, false},
                on_worker(services, [&services](const Incoming& incoming, const Reply& reply) {
                    answer(reply, put_quota(services, incoming));
                })});
    routes.add({http::Method::Delete,
                path,
                {Role::Admin, false},
                on_worker(services, [&services](const Incoming& incoming, const Reply& reply) {
                    answer(reply, remove_quota(*services.quotas, incoming));
                })});
}

} // namespace sluice::server
