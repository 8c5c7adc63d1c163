#include <atomic>
#include <cstdlib>
#include <expected>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "server/inspect/run_view.h"
#include "server/inspect/waiting.h"
#include "server/internal/requests.h"
#include "server/services.h"
#include "trigger/arrival.h"
#include "value/json.h"

namespace sluice::server {

namespace {

constexpr auto wait_max = std::chrono::minutes{10};
constexpr auto wait_default = Nanos{std::chrono::seconds{30}};

Result<engine::StartRequest> read_start(const Incoming& incoming) {
    auto body = TRY(incoming.json());
    auto request = engine::StartRequest{.space = incoming.space,
                                        .is_without_input = body.find("input") == nullptr};
    for (const auto& [name, value] : body.as_map()) {
        if (name == "input") {
            request.input = value;
        } else if (name == "labels" && value.is_map()) {
            request.labels = value;
        } else if (name == "priority" && value.is_int() &&
                   std::abs(value.as_int()) <= engine::priority_max) {
            request.priority = static_cast<std::int32_t>(value.as_int());
        } else if ((name == "id" || name == "definition" || name == "version") &&
                   value.is_string()) {
            auto& text = name == "id"           ? request.id
                         : name == "definition" ? request.definition
                                                : request.version;
            text = std::string{value.as_string()};
        } else {
            return fail(Errc::InvalidInput,
                        "{}: expected id, definition and version (texts), input, labels (a map), "
                        "priority (an integer from {} to {})",
                        name, -engine::priority_max, engine::priority_max);
        }
    }
    if (request.id.empty()) {
        request.id = make_run_id();
    }
    return request;
}

/// Its end, or that it goes on when the time is over.
void await_end(const Services& services, const engine::RunName& name, Nanos wait,
               const Reply& reply) {
    auto is_answered = std::make_shared<std::atomic<bool>>(false);
    auto id = services.engine.await(name, [reply, is_answered](const Result<Value>& ending) {
        if (!is_answered->exchange(true)) {
            answer(reply, ending);
        }
    });
    // Held weakly: once the run has ended, nothing is to wait for the rest of the time.
    services.timers.after(wait, [&services, name, id, is_answered, held = std::weak_ptr{reply}] {
        auto waiting = held.lock();
        if (waiting && !is_answered->exchange(true)) {
            services.engine.abandon(name, id);
            answer(waiting, 202, Value::object({{"run", name.id}, {"status", "running"}}));
        }
    });
}

/// Idempotent: the same id twice is one run, and the second answer says so.
void start(const Services& services, const Incoming& incoming, const Reply& reply) {
    auto known = check_query(incoming, {"wait"});
    auto wait = known ? read_duration(incoming, "wait")
                      : Result<std::optional<Nanos>>{std::unexpected(known.error())};
    auto request =
        wait ? read_start(incoming) : Result<engine::StartRequest>{std::unexpected(wait.error())};
    if (!request) {
        answer(reply, problem_of(request.error()));
        return;
    }
    auto admitted = services.admit_start(request->space);
    if (!admitted) {
        answer(reply, admitted.error());
        return;
    }
    auto name = engine::RunName{.space = request->space, .id = request->id};
    services.engine.start(*request, [&services, name, reply, wait = *wait,
                                     ticket = *std::move(admitted)](Result<Value> started) {
        if (!started) {
            answer(reply, problem_of(started.error()));
        } else if (wait) {
            await_end(services, name, std::min<Nanos>(*wait, wait_max), reply);
        } else {
            answer(reply, 201, *started);
        }
    });
}

void wait_for_end(const Services& services, const Incoming& incoming, const Reply& reply) {
    auto known = check_query(incoming, {"wait"});
    auto wait = known ? read_duration(incoming, "wait")
                      : Result<std::optional<Nanos>>{std::unexpected(known.error())};
    if (!wait) {
        answer(reply, problem_of(wait.error()));
        return;
    }
    await_end(services, name_of(incoming), std::min<Nanos>(wait->value_or(wait_default), wait_max),
              reply);
}

/// The events that wait with it, oldest first.
Result<Value> kept_of(const trigger::RunState& state) {
    auto events = std::vector<Value>{};
    for (const auto& [number, kept] : state.kept) {
        events.push_back(TRY(value::parse_json(kept.json)));
    }
    return Value::object({{"events", Value::list(std::move(events))}});
}

/// A look at a run as it is now.
Handle query(const Services& services, Result<Value> (*view)(const trigger::RunState&)) {
    return [&services, view](const Incoming& incoming, const Reply& reply) {
        if (auto known = check_query(incoming, {}); !known) {
            answer(reply, problem_of(known.error()));
            return;
        }
        auto read = [id = incoming.part("run"),
                     view](const trigger::RunState* state) -> Result<Value> {
            if (state == nullptr) {
                return fail(Errc::NotFound, "there is no run \"{}\"", id);
            }
            return view(*state);
        };
        services.engine.query(name_of(incoming), read,
                              [reply](const Result<Value>& seen) { answer(reply, seen); });
    };
}

Result<Value> list(const Services& services, const RunQuery& query) {
    auto page = TRY(engine::list_runs(services.store, query.filter));
    auto runs = std::vector<Value>{};
    for (const auto& listed : page.runs) {
        if (query.matches(listed.summary)) {
            runs.push_back(view_of_run(listed));
        }
    }
    return Value::object({{"runs", Value::list(std::move(runs))},
                          {"cursor", page.cursor.empty() ? Value{} : Value{page.cursor}}});
}

void answer_list(const Services& services, const Incoming& incoming, const Reply& reply) {
    auto query = read_run_query(incoming, {"standing"});
    auto is_standing = read_flag(incoming, "standing");
    if (!query || !is_standing) {
        answer(reply, problem_of(query ? is_standing.error() : query.error()));
        return;
    }
    if (*is_standing) {
        query->filter.listed = engine::RunsListed::Standing;
    }
    answer_from_worker(services, reply,
                       [&services, query = *std::move(query)] { return list(services, query); });
}

/// A view of a run with its result in full, as far as that is not too much.
Value with_result(const Services& services, const engine::RunName& run, Value view) {
    const auto* result = view.find("result");
    return result == nullptr || services.references == nullptr
               ? view
               : view.with("result", services.references->fill_or_leave(run, *result));
}

void answer_progress(const Services& services, const Incoming& incoming, const Reply& reply) {
    if (auto known = check_query(incoming, {}); !known) {
        answer(reply, problem_of(known.error()));
        return;
    }
    auto run = name_of(incoming);
    auto read = [id = run.id](const trigger::RunState* state) -> Result<Value> {
        if (state == nullptr) {
            return fail(Errc::NotFound, "there is no run \"{}\"", id);
        }
        return inspect::progress_view(*state);
    };
    services.engine.query(run, read, [&services, run, reply](Result<Value> seen) {
        const auto* result = seen ? seen->find("result") : nullptr;
        if (result == nullptr || services.references == nullptr ||
            !services.references->has_any(*result)) {
            answer(reply, seen);
            return;
        }
        answer_from_worker(services, reply, [&services, run, view = *std::move(seen)] {
            return Result<Value>{with_result(services, run, view)};
        });
    });
}

/// All of a run as the store has it, now or right after one of its events.
Result<Value> state_of(const Services& services, const engine::RunName& run,
                       std::optional<std::uint64_t> at) {
    auto inspector = engine::Inspector{services.store, services.vocabulary};
    if (at) {
        auto past = TRY(engine::state_at(inspector, run, trigger::EventNumber{*at}));
        return with_result(services, run, inspect::state_view(*past.state));
    }
    auto state = TRY(inspector.run(run));
    auto waiting = std::vector<Value>{};
    if (!state->has_ended()) {
        for (const auto& each : TRY(inspect::waiting_triggers(inspector, run))) {
            waiting.push_back(to_value(each));
        }
    }
    return with_result(services, run, inspect::state_view(*state))
        .with("waiting", Value::list(std::move(waiting)));
}

void answer_state(const Services& services, const Incoming& incoming, const Reply& reply) {
    auto known = check_query(incoming, {"at"});
    auto at = known ? read_number(incoming, "at")
                    : Result<std::optional<std::uint64_t>>{std::unexpected(known.error())};
    if (!at) {
        answer(reply, problem_of(at.error()));
        return;
    }
    answer_from_worker(services, reply, [&services, run = name_of(incoming), at = *at] {
        return state_of(services, run, at);
    });
}

void remove(const Services& services, const Incoming& incoming, const Reply& reply) {
    auto known = check_query(incoming, {"terminate"});
    auto terminates =
        known ? read_flag(incoming, "terminate") : Result<bool>{std::unexpected(known.error())};
    if (!terminates) {
        answer(reply, problem_of(terminates.error()));
        return;
    }
    services.engine.remove(
        name_of(incoming),
        *terminates ? engine::WhenRunning::Terminate : engine::WhenRunning::Refuse,
        [reply](const Result<Value>& done) { answer(reply, done); });
}

} // namespace

void add_run_routes(RouteTable& routes, const Services& services) {
    auto with = [&services](void (*handle)(const Services&, const Incoming&, const Reply&)) {
        return [&services, handle](const Incoming& incoming, const Reply& reply) {
            handle(services, incoming, reply);
        };
    };
    constexpr auto reads = Policy{Role::Reader, true};
    constexpr auto changes = Policy{Role::Operator, true};
    routes.add({http::Method::Post, "/v1/runs", changes, with(start)});
    routes.add({http::Method::Get, "/v1/runs", reads, with(answer_list)});
    routes.add({http::Method::Get, "/v1/runs/{run}", reads, with(answer_progress)});
    routes.add({http::Method::Get, "/v1/runs/{run}/end", reads, with(wait_for_end)});
    routes.add({http::Method::Get, "/v1/runs/{run}/state", reads, with(answer_state)});
    routes.add({http::Method::Get, "/v1/runs/{run}/kept", reads, query(services, kept_of)});
    routes.add({http::Method::Delete, "/v1/runs/{run}", changes, with(remove)});
}

} // namespace sluice::server
