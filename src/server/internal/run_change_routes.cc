#include <memory>
#include <utility>

#include "server/internal/bulk_change.h"
#include "server/internal/requests.h"
#include "server/internal/run_task_routes.h"
#include "server/services.h"
#include "trigger/arrival.h"

namespace sluice::server {

namespace {

/// `{"reason": "…"}` becomes the error that the run ends with.
Result<Value> read_reason(const Incoming& incoming, std::string_view kind) {
    TRY(check_query(incoming, {}));
    auto body = TRY(incoming.json());
    auto data = Value::object({});
    for (const auto& [name, value] : body.as_map()) {
        if (name != "reason" || !value.is_string()) {
            return fail(Errc::InvalidInput, "{}: expected reason, a text", name);
        }
        data = Value::object({{"error", Value::object({{"kind", kind}, {"message", value}})}});
    }
    return data;
}

/// A command of the engine's own that ends or holds the run.
Handle command(const Services& services, std::string_view type, std::string_view kind) {
    return [&services, type, kind](const Incoming& incoming, const Reply& reply) {
        auto data = read_reason(incoming, kind);
        if (!data) {
            answer(reply, problem_of(data.error()));
            return;
        }
        services.engine.command(name_of(incoming), std::string{type}, *std::move(data),
                                [reply](const Result<Value>& done) { answer(reply, done); });
    };
}

void reopen(const Services& services, const Incoming& incoming, const Reply& reply) {
    if (auto known = check_query(incoming, {}); !known) {
        answer(reply, problem_of(known.error()));
        return;
    }
    services.engine.reopen(name_of(incoming), {},
                           [reply](const Result<Value>& done) { answer(reply, done); });
}

struct ForkRequest {
    trigger::EventNumber event;
    std::string id;
};

Result<ForkRequest> read_fork(const Incoming& incoming) {
    TRY(check_query(incoming, {}));
    auto body = TRY(incoming.json());
    auto request = ForkRequest{};
    for (const auto& [name, value] : body.as_map()) {
        if (name == "event" && value.is_int() && value.as_int() > 0) {
            request.event = trigger::EventNumber{static_cast<std::uint64_t>(value.as_int())};
        } else if (name == "id" && value.is_string()) {
            request.id = std::string{value.as_string()};
        } else {
            return fail(Errc::InvalidInput,
                        "{}: expected event, the number of an event, and id, a text", name);
        }
    }
    if (request.event.raw() == 0) {
        return fail(Errc::InvalidInput,
                    "write after which event: {{\"event\": 7}}; GET …/events lists them");
    }
    if (request.id.empty()) {
        request.id = make_run_id();
    }
    return request;
}

/// On a worker, since the past is read from the store.
void fork_then(const Services& services, const Incoming& incoming, const Reply& reply,
               std::move_only_function<void(engine::RunName, Value)> then) {
    auto request = read_fork(incoming);
    if (!request) {
        answer(reply, problem_of(request.error()));
        return;
    }
    do_on_worker(services, reply,
                 [&services, run = name_of(incoming), request = *std::move(request), reply,
                  then = std::move(then)]() mutable {
                     auto admitted = services.admit_start(run.space);
                     if (!admitted) {
                         answer(reply, admitted.error());
                         return;
                     }
                     services.engine.fork(run, request.event, request.id,
                                          [run, reply, then = std::move(then),
                                           ticket = *admitted](Result<Value> forked) mutable {
                                              if (forked) {
                                                  then(run, *std::move(forked));
                                              } else {
                                                  answer(reply, problem_of(forked.error()));
                                              }
                                          });
                 });
}

void fork(const Services& services, const Incoming& incoming, const Reply& reply) {
    fork_then(services, incoming, reply, [reply](const engine::RunName& run, const Value& forked) {
        answer(reply, 201, forked.with("forked_from", run.id));
    });
}

/// The run goes on from an event as another one, and is itself terminated.
void reset(const Services& services, const Incoming& incoming, const Reply& reply) {
    fork_then(
        services, incoming, reply,
        [&services, reply](const engine::RunName& run, const Value& forked) {
            auto error = Value::object({{"kind", "reset"}, {"message", *forked.find("run")}});
            services.engine.command(
                run, std::string{trigger::types::run_terminate}, Value::object({{"error", error}}),
                [reply, forked, id = run.id](const Result<Value>& ended) {
                    if (ended) {
                        answer(reply, 201, forked.with("forked_from", id).with("terminated", id));
                    } else {
                        answer(reply, problem_of(ended.error()));
                    }
                });
        });
}

/// What to do to each run that a filter finds.
Handle in_bulk(const Services& services, std::vector<trigger::Status> statuses, ChangeRun change) {
    return [&services, statuses, change](const Incoming& incoming, const Reply& reply) {
        auto dry_run = read_flag(incoming, "dry_run");
        auto all = read_flag(incoming, "all");
        auto query = read_run_query(incoming, {"dry_run", "all"});
        if (!dry_run || !all || !query) {
            answer(reply, problem_of(!query     ? query.error()
                                     : !dry_run ? dry_run.error()
                                                : all.error()));
            return;
        }
        const auto& filter = query->filter;
        auto is_narrowed = filter.status || !filter.definition.empty() || !filter.label.empty() ||
                           filter.started_since || filter.started_until || filter.ended_since ||
                           filter.ended_until;
        if (!is_narrowed && !*all) {
            answer(reply, problem_of({Errc::InvalidInput,
                                      "write which runs: status, definition, label, started_after "
                                      "and the like; or all=true"}));
            return;
        }
        auto wanted = filter.status ? std::vector{*filter.status} : statuses;
        auto bulk = std::make_shared<BulkChange>(services, *std::move(query), std::move(wanted),
                                                 change, reply);
        do_on_worker(services, reply, [bulk, is_preview = *dry_run] {
            is_preview ? bulk->preview() : bulk->change_page();
        });
    };
}

ChangeRun by_command(std::string_view type) {
    return [type](engine::Engine& engine, const engine::RunName& run, engine::Done done) {
        engine.command(run, std::string{type}, Value::object({}), std::move(done));
    };
}

} // namespace

void add_run_change_routes(RouteTable& routes, const Services& services) {
    constexpr auto changes = Policy{Role::Operator, true};
    auto add = [&](const char* pattern, Handle handle) {
        routes.add({http::Method::Post, pattern, changes, std::move(handle)});
    };
    auto with = [&services](void (*handle)(const Services&, const Incoming&, const Reply&)) {
        return [&services, handle](const Incoming& incoming, const Reply& reply) {
            handle(services, incoming, reply);
        };
    };
    namespace types = trigger::types;
    add("/v1/runs/{run}/cancel", command(services, types::run_cancel, "cancelled"));
    add("/v1/runs/{run}/terminate", command(services, types::run_terminate, "terminated"));
    add("/v1/runs/{run}/pause", command(services, types::run_pause, "paused"));
    add("/v1/runs/{run}/resume", command(services, types::run_resume, "resumed"));
    add("/v1/runs/{run}/reopen", with(reopen));
    add_run_task_routes(routes, services);
    add("/v1/runs/{run}/fork", with(fork));
    add("/v1/runs/{run}/reset", with(reset));
    // Those in the queue first: they would begin when others end.
    auto unended = std::vector{trigger::Status::Queued, trigger::Status::Running};
    add("/v1/runs/cancel", in_bulk(services, unended, by_command(types::run_cancel)));
    add("/v1/runs/terminate", in_bulk(services, unended, by_command(types::run_terminate)));
    add("/v1/runs/retry",
        in_bulk(services, {trigger::Status::Failed},
                [](engine::Engine& engine, const engine::RunName& run, engine::Done done) {
                    engine.reopen(run, {}, std::move(done));
                }));
}

} // namespace sluice::server
