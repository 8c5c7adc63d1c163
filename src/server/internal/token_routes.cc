#include <algorithm>
#include <utility>

#include "server/services.h"
#include "server/tokens.h"
#include "value/json.h"
#include "value/time_text.h"

namespace sluice::server {

namespace {

Value view_of(const TokenInfo& info) {
    return Value::object(
        {{"name", info.name},
         {"role", to_string(info.role)},
         {"namespace", info.space.empty() ? Value{} : Value{info.space}},
         {"created", value::format_time(info.created)},
         {"expires", info.expires ? Value{value::format_time(*info.expires)} : Value{}}});
}

/// Whether the caller's namespace, if it has one, is the token's.
bool may_touch(const Caller& caller, const TokenInfo& info) {
    return caller.space.empty() || caller.space == info.space;
}

Result<void> read_token_field(std::string_view name, const std::string& text, Time now,
                              TokenInfo& info) {
    if (name == "name") {
        info.name = text;
    } else if (name == "namespace") {
        info.space = text;
    } else if (name == "role") {
        auto role = role_named(text);
        if (!role) {
            return fail(Errc::InvalidInput, "role \"{}\": expected reader, operator or admin",
                        text);
        }
        info.role = *role;
    } else if (name == "expires") {
        auto time = value::parse_time(text);
        auto after = value::parse_duration(text);
        if (!time && !after) {
            return fail(Errc::InvalidInput,
                        "expires \"{}\": expected a time such as 2027-01-31T00:00:00Z, or a "
                        "duration from now such as 30d",
                        text);
        }
        info.expires = time ? *time : now + *after;
        if (*info.expires <= now) {
            return fail(Errc::InvalidInput, "expires \"{}\": that is over already", text);
        }
    } else {
        return fail(Errc::InvalidInput, "{}: expected name, role, namespace and expires", name);
    }
    return {};
}

Result<TokenInfo> read_token_info(const Incoming& incoming, Time now) {
    auto body = TRY(incoming.json());
    auto info = TokenInfo{.space = incoming.caller.space, .created = now};
    const auto* role = body.find("role");
    for (const auto& [name, value] : body.as_map()) {
        if (!value.is_string() || value.as_string().empty()) {
            return fail(Errc::InvalidInput, "{}: expected a text", name);
        }
        TRY(read_token_field(name, std::string{value.as_string()}, now, info));
    }
    if (info.name.empty() || role == nullptr) {
        return fail(Errc::InvalidInput, "a token needs a name and a role");
    }
    return info;
}

void create_token(Tokens& tokens, const Incoming& incoming, const Reply& reply, Time now) {
    auto info = read_token_info(incoming, now);
    if (!info) {
        answer(reply, problem_of(info.error()));
        return;
    }
    if (!may_touch(incoming.caller, *info)) {
        answer(reply, Problem{.status = 403,
                              .code = "forbidden",
                              .detail = fmt::format("{} may use the namespace {} only",
                                                    incoming.caller.name, incoming.caller.space)});
        return;
    }
    auto secret = tokens.create(*info);
    if (!secret) {
        answer(reply, problem_of(secret.error()));
        return;
    }
    reply->answer({.status = 201,
                   .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
                   .body = value::to_json(view_of(*info).with("token", *secret))});
}

Value list_tokens(const Tokens& tokens, const Incoming& incoming) {
    auto views = std::vector<Value>{};
    for (const auto& info : tokens.table().list()) {
        if (may_touch(incoming.caller, info)) {
            views.push_back(view_of(info));
        }
    }
    return Value::object({{"tokens", Value::list(std::move(views))}});
}

Result<Value> remove_token(Tokens& tokens, const Incoming& incoming) {
    const auto& name = incoming.part("name");
    auto all = tokens.table().list();
    auto found = std::ranges::find(all, name, &TokenInfo::name);
    if (found == all.end() || !may_touch(incoming.caller, *found)) {
        return fail(Errc::NotFound, "there is no token \"{}\"", name);
    }
    auto removed = tokens.remove(name);
    if (!removed && removed.error().code == Errc::NotFound) {
        return fail(Errc::Conflict, "the token \"{}\" stands in the configuration: remove it there",
                    name);
    }
    if (!removed) {
        return std::unexpected(removed.error());
    }
    return Value::object({{"removed", name}});
}

} // namespace

void add_token_routes(RouteTable& routes, const Services& services, Tokens& tokens) {
    auto admin = Policy{Role::Admin, true};
    routes.add(
        {http::Method::Post, "/v1/tokens", admin,
         on_worker(services, [&services, &tokens](const Incoming& incoming, const Reply& reply) {
             create_token(tokens, incoming, reply, services.clock.wall());
         })});
    routes.add({http::Method::Get, "/v1/tokens", admin,
                [&tokens](const Incoming& incoming, const Reply& reply) {
                    answer(reply, 200, list_tokens(tokens, incoming));
                }});
    routes.add({http::Method::Delete, "/v1/tokens/{name}", admin,
                on_worker(services, [&tokens](const Incoming& incoming, const Reply& reply) {
                    answer(reply, remove_token(tokens, incoming));
                })});
}

} // namespace sluice::server
