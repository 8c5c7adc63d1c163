#include <utility>

#include <fmt/format.h>

#include "server/inspect/last_states.h"
#include "server/inspect/run_view.h"
#include "server/inspect/waiting.h"
#include "server/internal/requests.h"
#include "server/internal/run_move.h"
#include "server/services.h"
#include "trigger/arrival.h"
#include "value/wording.h"

// The triggers of a run and what they remember. A change is a command with actions, so that it is
// decided, recorded and replayed like any other event.
namespace sluice::server {

namespace {

Problem problem_of_command(const Value& answered) {
    const auto* reply = answered.find("reply");
    const auto* error = reply == nullptr ? nullptr : reply->find("error");
    if (error == nullptr) {
        return {.status = 409, .code = "conflict", .detail = "the run has ended, or goes on anew"};
    }
    auto detail = value::text_at(*error, "message");
    if (value::text_at(*error, "code") == "no_such_trigger") {
        return {.status = 404, .code = "not_found", .detail = std::move(detail)};
    }
    return {.status = 422, .code = "invalid_trigger", .detail = std::move(detail)};
}

/// Lets the run do an action, as one of its triggers would.
void act(const Services& services, const engine::RunName& run, const Reply& reply, int status,
         Value action, Value told) {
    services.engine.command(run, std::string{trigger::types::run_command},
                            Value::object({{"action", std::move(action)}}),
                            [reply, status, told = std::move(told)](const Result<Value>& done) {
                                if (!done) {
                                    answer(reply, problem_of(done.error()));
                                } else if (value::text_at(*done, "fate") != "handled") {
                                    answer(reply, problem_of_command(*done));
                                } else {
                                    answer(reply, status, told);
                                }
                            });
}

using Make = Result<Value> (*)(const Incoming& incoming);

/// The trigger that is added, or the one that the path names.
Value told_of(const Incoming& incoming, const Value& action) {
    auto told = Value::object({{"run", incoming.part("run")}});
    if (const auto* form = action.find("add")) {
        return told.with("trigger", value::text_at(*form, "id"));
    }
    auto found = incoming.path.find("trigger");
    return found == incoming.path.end() ? told : told.with("trigger", found->second);
}

Handle acting(const Services& services, int status, Make make) {
    return [&services, status, make](const Incoming& incoming, const Reply& reply) {
        auto known = check_query(incoming, {});
        auto action = known ? make(incoming) : Result<Value>{std::unexpected(known.error())};
        if (!action) {
            answer(reply, problem_of(action.error()));
            return;
        }
        auto told = told_of(incoming, *action);
        act(services, name_of(incoming), reply, status, *std::move(action), std::move(told));
    };
}

Value trigger_named(const Incoming& incoming) {
    return as_text(Value{incoming.part("trigger")});
}

Result<Value> add(const Incoming& incoming) {
    auto form = TRY(incoming.json());
    return Value::object({{"add", std::move(form)}});
}

Result<Value> modify(const Incoming& incoming) {
    auto over = TRY(incoming.json());
    return Value::object({{"modify", Value::object({{"trigger", trigger_named(incoming)},
                                                    {"set", std::move(over)}})}});
}

Result<Value> enable(const Incoming& incoming) {
    return Value::object({{"enable", trigger_named(incoming)}});
}

Result<Value> disable(const Incoming& incoming) {
    return Value::object({{"disable", trigger_named(incoming)}});
}

Result<Value> remove(const Incoming& incoming) {
    return Value::object({{"remove", trigger_named(incoming)}});
}

/// The body is a trigger, with `when` in place of `intercept`.
Result<Value> intercept(const Incoming& incoming) {
    auto form = TRY(incoming.json());
    if (form.find("intercept") != nullptr) {
        return fail(Errc::InvalidInput,
                    "intercept: the path says whom; expected when: before, after or instead");
    }
    auto target = Value::object({{"trigger", incoming.part("trigger")}});
    if (const auto* when = form.find("when")) {
        target = target.with("when", *when);
    }
    return Value::object({{"add", form.without("when").with("intercept", std::move(target))}});
}

Result<Value> set_run_context(const Incoming& incoming) {
    auto over = TRY(incoming.json());
    return Value::object({{"set", Value::object({{"run", as_text(over)}})}});
}

Result<Value> set_trigger_context(const Incoming& incoming) {
    auto form = TRY(incoming.json());
    auto over = Value::map({{incoming.part("trigger"), as_text(form)}});
    return Value::object({{"set", Value::object({{"triggers", std::move(over)}})}});
}

/// Its triggers become those of the definition as it is now.
void move_run(const Services& services, const Incoming& incoming, const Reply& reply) {
    auto known = check_query(incoming, {"dry_run"});
    auto dry_run =
        known ? read_flag(incoming, "dry_run") : Result<bool>{std::unexpected(known.error())};
    if (!dry_run) {
        answer(reply, problem_of(dry_run.error()));
        return;
    }
    do_on_worker(services, reply, [&services, run = name_of(incoming), reply, only = *dry_run] {
        auto inspector = engine::Inspector{services.store, services.vocabulary};
        auto planned = plan_move(inspector, run);
        if (!planned) {
            answer(reply, problem_of(planned.error()));
            return;
        }
        auto told = planned->changes.with("run", run.id).with("version", planned->version);
        if (only || planned->action.size() == 0) {
            answer(reply, 200, told);
        } else {
            act(services, run, reply, 200, std::move(planned->action), std::move(told));
        }
    });
}

std::string id_of(const Value& shown) {
    return value::text_at(*shown.find("trigger"), "id");
}

Result<Value> find_trigger(engine::Inspector& inspector, const engine::RunName& run,
                           const std::string& id) {
    auto all = TRY(inspector.triggers(run));
    for (const auto& each : all.as_list()) {
        if (id_of(each) == id) {
            return each;
        }
    }
    return fail(Errc::NotFound, "run \"{}\" has no trigger \"{}\"", run.id, id);
}

/// What it remembers in the root, and in other scopes that it has begun in.
Value contexts_of(const Value& shown) {
    const auto* initial = shown.find("trigger")->find("context");
    auto root = initial == nullptr ? Value{} : *initial;
    auto scopes = std::vector<value::Member>{};
    for (const auto& state : shown.find("states")->as_list()) {
        const auto* memory = state.find("memory");
        if (memory == nullptr || memory->is_null()) {
            continue;
        }
        auto scope = value::text_at(state, "scope");
        if (scope.empty()) {
            root = *memory;
        } else {
            scopes.push_back({scope, *memory});
        }
    }
    return Value::object({{"trigger", id_of(shown)},
                          {"context", std::move(root)},
                          {"scopes", Value::map(std::move(scopes))}});
}

using ReadTrigger = Result<Value> (*)(engine::Inspector& inspector, const engine::RunName& run,
                                      const std::string& trigger);

Handle looking(const Services& services, ReadTrigger look) {
    return [&services, look](const Incoming& incoming, const Reply& reply) {
        if (auto known = check_query(incoming, {}); !known) {
            answer(reply, problem_of(known.error()));
            return;
        }
        auto found = incoming.path.find("trigger");
        auto id = found == incoming.path.end() ? std::string{} : found->second;
        answer_from_worker(services, reply, [&services, look, run = name_of(incoming), id] {
            auto inspector = engine::Inspector{services.store, services.vocabulary};
            return look(inspector, run, id);
        });
    };
}

std::string_view state_of(const inspect::WaitingTrigger& row, bool has_ended) {
    if (row.is_gone) {
        return "gone";
    }
    if (has_ended) {
        return "over";
    }
    return row.is_on ? "waits" : "disabled";
}

Result<Value> look_at_all(engine::Inspector& inspector, const engine::RunName& run) {
    auto rows = std::vector<Value>{};
    auto has_ended = TRY(inspector.run(run))->has_ended();
    for (const auto& row : TRY(inspect::trigger_rows(inspector, run))) {
        rows.push_back(to_value(row).with("state", state_of(row, has_ended)));
    }
    auto triggers = TRY(inspector.triggers(run));
    return Value::object(
        {{"triggers", std::move(triggers)}, {"rows", Value::list(std::move(rows))}});
}

/// With `last=true` as they last were, also where what held them is gone.
void show_triggers(const Services& services, const Incoming& incoming, const Reply& reply) {
    auto known = check_query(incoming, {"last"});
    auto is_last =
        known ? read_flag(incoming, "last") : Result<bool>{std::unexpected(known.error())};
    if (!is_last) {
        answer(reply, problem_of(is_last.error()));
        return;
    }
    answer_from_worker(services, reply,
                       [&services, run = name_of(incoming), last = *is_last]() -> Result<Value> {
                           auto inspector = engine::Inspector{services.store, services.vocabulary};
                           auto shown = TRY(look_at_all(inspector, run));
                           if (!last) {
                               return shown;
                           }
                           auto triggers = TRY(inspect::last_triggers(inspector, run));
                           return shown.with("triggers", std::move(triggers));
                       });
}

Result<Value> look_at_context(engine::Inspector& inspector, const engine::RunName& run,
                              const std::string& /*trigger*/) {
    return inspect::contexts_view(*TRY(inspector.run(run)));
}

Result<Value> look_at_trigger_context(engine::Inspector& inspector, const engine::RunName& run,
                                      const std::string& trigger) {
    return contexts_of(TRY(find_trigger(inspector, run, trigger)));
}

} // namespace

void add_run_trigger_routes(RouteTable& routes, const Services& services) {
    constexpr auto reads = Policy{Role::Reader, true};
    constexpr auto changes = Policy{Role::Operator, true};
    const auto all = std::string{"/v1/runs/{run}/triggers"};
    const auto one = all + "/{trigger}";
    using http::Method;
    routes.add({Method::Post, "/v1/runs/{run}/move", changes,
                [&services](const Incoming& incoming, const Reply& reply) {
                    move_run(services, incoming, reply);
                }});
    routes.add({Method::Get, all, reads, [&services](const Incoming& incoming, const Reply& reply) {
                    show_triggers(services, incoming, reply);
                }});
    routes.add({Method::Post, all, changes, acting(services, 201, add)});
    routes.add({Method::Get, one, reads, looking(services, find_trigger)});
    routes.add({Method::Patch, one, changes, acting(services, 200, modify)});
    routes.add({Method::Delete, one, changes, acting(services, 200, remove)});
    routes.add({Method::Post, one + "/enable", changes, acting(services, 200, enable)});
    routes.add({Method::Post, one + "/disable", changes, acting(services, 200, disable)});
    routes.add({Method::Post, one + "/intercept", changes, acting(services, 201, intercept)});
    routes.add({Method::Get, one + "/context", reads, looking(services, look_at_trigger_context)});
    routes.add(
        {Method::Patch, one + "/context", changes, acting(services, 200, set_trigger_context)});
    routes.add({Method::Get, "/v1/runs/{run}/context", reads, looking(services, look_at_context)});
    routes.add(
        {Method::Patch, "/v1/runs/{run}/context", changes, acting(services, 200, set_run_context)});
}

} // namespace sluice::server
