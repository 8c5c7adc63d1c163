#include <atomic>
#include <charconv>
#include <expected>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "engine/run_index.h"
#include "server/services.h"
#include "trigger/arrival.h"
#include "value/json.h"
#include "value/time_text.h"

namespace sluice::server {

namespace {

engine::RunName name_of(const Incoming& incoming) {
    return {.space = incoming.space, .id = incoming.part("run")};
}

Value view_of(const trigger::RunState& state) {
    const auto& info = state.info;
    const auto& progress = state.progress;
    auto view = Value::object({{"run", state.id},
                               {"definition", info.definition},
                               {"status", to_string(progress.status)},
                               {"started", info.started},
                               {"input", info.input},
                               {"labels", info.labels},
                               {"generation", static_cast<std::int64_t>(info.generation)}});
    if (progress.ended) {
        view = view.with("ended", *progress.ended)
                   .with("result", progress.result)
                   .with("error", progress.error);
    }
    return view;
}

Value view_of(const engine::ListedRun& listed) {
    const auto& summary = listed.summary;
    return Value::object({{"run", listed.run.id},
                          {"definition", summary.definition},
                          {"status", to_string(summary.status)},
                          {"started", summary.started},
                          {"ended", summary.ended ? Value{*summary.ended} : Value{}},
                          {"labels", summary.labels},
                          {"parent", summary.parent.empty() ? Value{} : Value{summary.parent}}});
}

Result<engine::StartRequest> read_start(const Incoming& incoming) {
    auto body = TRY(incoming.json());
    auto request = engine::StartRequest{.space = incoming.space};
    for (const auto& [name, value] : body.as_map()) {
        if (name == "input") {
            request.input = value;
        } else if (name == "labels" && value.is_map()) {
            request.labels = value;
        } else if ((name == "id" || name == "definition") && value.is_string()) {
            (name == "id" ? request.id : request.definition) = std::string{value.as_string()};
        } else {
            return fail(Errc::InvalidInput,
                        "{}: expected id and definition (texts), input, labels (a map)", name);
        }
    }
    if (request.id.empty() || request.definition.empty()) {
        return fail(Errc::InvalidInput, "a run needs an id and a definition");
    }
    return request;
}

/// `30s`, as the parameter says; nothing without one.
Result<std::optional<Nanos>> read_wait(const Incoming& incoming) {
    const auto* text = incoming.query("wait");
    if (text == nullptr) {
        return std::nullopt;
    }
    auto wait = value::parse_duration(*text);
    if (!wait) {
        return fail(Errc::InvalidInput, "wait={}: expected a duration such as 30s", *text);
    }
    return *wait;
}

/// Its end, or that it goes on when the time is over.
void await_end(const Services& services, const engine::RunName& name, Nanos wait,
               const Reply& reply) {
    auto is_answered = std::make_shared<std::atomic<bool>>(false);
    services.engine.await(name, [reply, is_answered](const Result<Value>& ending) {
        if (!is_answered->exchange(true)) {
            answer(reply, ending);
        }
    });
    services.timers.after(wait, [reply, is_answered, id = name.id] {
        if (!is_answered->exchange(true)) {
            answer(reply, 202, Value::object({{"run", id}, {"status", "running"}}));
        }
    });
}

/// Idempotent: the same id twice is one run, and the second answer says so.
void start(const Services& services, const Incoming& incoming, const Reply& reply) {
    auto request = read_start(incoming);
    auto wait = request ? read_wait(incoming) : Result<std::optional<Nanos>>{};
    if (!request || !wait) {
        answer(reply, problem_of(request ? wait.error() : request.error()));
        return;
    }
    auto admitted = services.quotas == nullptr ? std::expected<Quotas::Ticket, Problem>{}
                                               : services.quotas->admit_start(request->space);
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
            await_end(services, name, *wait, reply);
        } else {
            answer(reply, 201, *started);
        }
    });
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

Result<engine::RunFilter> read_filter(const Incoming& incoming) {
    auto filter = engine::RunFilter{.space = incoming.space};
    for (const auto& [name, text] : incoming.target.query) {
        if (name == "definition") {
            filter.definition = text;
        } else if (name == "label") {
            filter.label = text;
        } else if (name == "cursor") {
            filter.cursor = text;
        } else if (name == "limit") {
            auto [end, error] =
                std::from_chars(text.data(), text.data() + text.size(), filter.most);
            if (error != std::errc{} || end != text.data() + text.size() || filter.most == 0 ||
                filter.most > 1'000) {
                return fail(Errc::InvalidInput, "limit={}: expected 1 to 1000", text);
            }
        } else if (name == "status") {
            for (auto status :
                 {trigger::Status::Running, trigger::Status::Succeeded, trigger::Status::Failed,
                  trigger::Status::Cancelled, trigger::Status::TimedOut}) {
                if (text == to_string(status)) {
                    filter.status = status;
                }
            }
            if (!filter.status) {
                return fail(Errc::InvalidInput,
                            "status={}: expected running, succeeded, failed, cancelled or timed "
                            "out",
                            text);
            }
        } else if (name != "namespace") {
            return fail(Errc::InvalidInput, "there is no parameter {}", name);
        }
    }
    return filter;
}

Result<Value> list(const Services& services, const Incoming& incoming) {
    auto filter = TRY(read_filter(incoming));
    auto page = TRY(engine::list_runs(services.store, filter));
    auto runs = std::vector<Value>{};
    for (const auto& listed : page.runs) {
        runs.push_back(view_of(listed));
    }
    return Value::object({{"runs", Value::list(std::move(runs))},
                          {"cursor", page.cursor.empty() ? Value{} : Value{page.cursor}}});
}

Handle command(const Services& services, std::string_view type) {
    return [&services, type](const Incoming& incoming, const Reply& reply) {
        services.engine.command(name_of(incoming), std::string{type}, Value{},
                                [reply](const Result<Value>& done) { answer(reply, done); });
    };
}

} // namespace

void add_run_routes(RouteTable& routes, const Services& services) {
    routes.add({http::Method::Post,
                "/v1/runs",
                {Role::Operator, true},
                [&services](const Incoming& incoming, const Reply& reply) {
                    start(services, incoming, reply);
                }});
    routes.add({http::Method::Get,
                "/v1/runs",
                {Role::Reader, true},
                [&services](const Incoming& incoming, const Reply& reply) {
                    answer(reply, list(services, incoming));
                }});
    routes.add({http::Method::Get,
                "/v1/runs/{run}",
                {Role::Reader, true},
                query(services, [](const trigger::RunState& state) -> Result<Value> {
                    return view_of(state);
                })});
    routes.add(
        {http::Method::Get, "/v1/runs/{run}/kept", {Role::Reader, true}, query(services, kept_of)});
    routes.add({http::Method::Post,
                "/v1/runs/{run}/cancel",
                {Role::Operator, true},
                command(services, trigger::types::run_cancel)});
    routes.add({http::Method::Post,
                "/v1/runs/{run}/terminate",
                {Role::Operator, true},
                command(services, trigger::types::run_terminate)});
    routes.add({http::Method::Post,
                "/v1/runs/{run}/reopen",
                {Role::Operator, true},
                [&services](const Incoming& incoming, const Reply& reply) {
                    services.engine.reopen(name_of(incoming), [reply](const Result<Value>& done) {
                        answer(reply, done);
                    });
                }});
    routes.add({http::Method::Delete,
                "/v1/runs/{run}",
                {Role::Operator, true},
                [&services](const Incoming& incoming, const Reply& reply) {
                    services.engine.remove(
                        name_of(incoming), engine::WhenRunning::Refuse,
                        [reply](const Result<Value>& done) { answer(reply, done); });
                }});
}

} // namespace sluice::server
