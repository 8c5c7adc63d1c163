#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "event/s3_notification.h"
#include "server/intake/intake.h"

namespace sluice::server::intake {

namespace {

/// What it looks like now, or what kept it from being so.
void answer_source(Sources& sources, const Incoming& incoming, const Reply& reply,
                   const std::optional<Problem>& problem) {
    if (problem) {
        answer(reply, *problem);
    } else {
        answer(reply, sources.view(incoming.space, incoming.part("source")));
    }
}

void put_source(Sources& sources, const Incoming& incoming, const Reply& reply) {
    auto form = incoming.json();
    if (!form) {
        answer(reply, problem_of(form.error()));
        return;
    }
    // What may be watched is the same for all namespaces, so it is not for those of one.
    if (!incoming.caller.space.empty() && form->find("path") != nullptr) {
        answer(reply, Problem{.status = 403,
                              .code = "forbidden",
                              .detail = "directories are set up by an administrator of all "
                                        "namespaces"});
        return;
    }
    answer_source(sources, incoming, reply,
                  sources.put(incoming.space, incoming.part("source"),
                              form->without("source").without("state")));
}

void remove_source(Sources& sources, const Incoming& incoming, const Reply& reply) {
    if (auto problem = sources.remove(incoming.space, incoming.part("source"))) {
        answer(reply, *problem);
    } else {
        answer(reply, 200, Value::object({{"removed", incoming.part("source")}}));
    }
}

/// An object store tells of its objects.
void take_s3(Sources& sources, const Incoming& incoming, const Reply& reply) {
    auto feed = sources.feed_of(incoming.space, incoming.part("source"), "s3");
    if (!feed) {
        answer(reply, feed.error());
        return;
    }
    auto events = event::read_s3_notification(incoming.request.body);
    if (!events) {
        (*feed)->note_error(events.error().message);
        answer(reply, problem_of(events.error()));
        return;
    }
    if (events->empty()) {
        reply->answer({.status = 202});
        return;
    }
    (*feed)->deliver(*std::move(events), [reply](const std::optional<Problem>& problem) {
        if (problem) {
            answer(reply, *problem);
        } else {
            reply->answer({.status = 202});
        }
    });
}

} // namespace

void add_source_routes(RouteTable& routes, const Services& services, Sources& sources) {
    auto change = [&](http::Method method, std::string path, Role role,
                      std::function<void(const Incoming&, const Reply&)> handle) {
        routes.add(
            {method,
             std::move(path),
             {role, true},
             [&services, handle = std::move(handle)](const Incoming& incoming, const Reply& reply) {
                 do_on_worker(services, reply,
                              [handle, incoming, reply] { handle(incoming, reply); });
             }});
    };
    routes.add({http::Method::Get,
                "/v1/sources",
                {Role::Reader, true},
                [&sources](const Incoming& incoming, const Reply& reply) {
                    answer(reply, 200,
                           Value::object({{"sources", Value::list(sources.list(incoming.space))}}));
                }});
    routes.add({http::Method::Get,
                "/v1/sources/{source}",
                {Role::Reader, true},
                [&sources](const Incoming& incoming, const Reply& reply) {
                    answer_source(sources, incoming, reply, std::nullopt);
                }});
    // Sources read what lies on this machine, so setting them up is an administrator's.
    change(http::Method::Put, "/v1/sources/{source}", Role::Admin,
           [&sources](const Incoming& incoming, const Reply& reply) {
               put_source(sources, incoming, reply);
           });
    change(http::Method::Delete, "/v1/sources/{source}", Role::Admin,
           [&sources](const Incoming& incoming, const Reply& reply) {
               remove_source(sources, incoming, reply);
           });
    for (auto is_paused : {true, false}) {
        change(http::Method::Post,
               is_paused ? "/v1/sources/{source}/pause" : "/v1/sources/{source}/resume",
               Role::Operator, [&sources, is_paused](const Incoming& incoming, const Reply& reply) {
                   answer_source(
                       sources, incoming, reply,
                       sources.set_paused(incoming.space, incoming.part("source"), is_paused));
               });
    }
    routes.add({http::Method::Post,
                "/hooks/s3/{source}",
                {Role::Operator, true},
                [&sources](const Incoming& incoming, const Reply& reply) {
                    take_s3(sources, incoming, reply);
                }});
}

} // namespace sluice::server::intake
