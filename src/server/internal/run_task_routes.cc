#include "server/internal/run_task_routes.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "server/internal/requests.h"
#include "trigger/arrival.h"
#include "value/wording.h"

// A task is told by an action, which the language of its definition brings. So it is decided and
// recorded like any other event.
namespace sluice::server {

namespace {

/// A verb of the API, and the action it becomes.
struct Verb {
    const char* path;
    const char* action;
    std::vector<std::string> members; ///< That the body may have besides `task`.
};

Result<Value> read_body(const Incoming& incoming, const Verb& verb) {
    TRY(check_query(incoming, {}));
    auto body = TRY(incoming.json());
    for (const auto& [name, member] : body.as_map()) {
        if (name == "task" && !member.is_string()) {
            return fail(Errc::InvalidInput, "task: expected the name of a task");
        }
        if (name == "id" && !member.is_string()) {
            return fail(Errc::InvalidInput, "id: expected that of the new run");
        }
        if (name != "task" && std::ranges::find(verb.members, name) == verb.members.end()) {
            return fail(Errc::InvalidInput, "{}: expected task{}{}", name,
                        verb.members.empty() ? "" : ", ", fmt::join(verb.members, ", "));
        }
    }
    return body;
}

Problem problem_of_task(const Value& answered) {
    const auto* told = answered.find("reply");
    const auto* error = told == nullptr ? nullptr : told->find("error");
    if (error == nullptr) {
        return {.status = 409, .code = "conflict", .detail = "the run has ended"};
    }
    auto detail = value::text_at(*error, "message");
    auto code = value::text_at(*error, "code");
    if (code == "no_such_task") {
        return {.status = 404, .code = "not_found", .detail = std::move(detail)};
    }
    return code == "not_waiting"
               ? Problem{.status = 409, .code = "conflict", .detail = std::move(detail)}
               : Problem{.status = 422, .code = "invalid_input", .detail = std::move(detail)};
}

/// One that has succeeded stays as it is, since others may have its result: a new run goes on from
/// before its end.
void restart_with(const Services& services, const engine::RunName& run, const Value& body,
                  const Reply& reply) {
    auto id = value::text_at(body, "id");
    id = id.empty() ? make_run_id() : id;
    do_on_worker(services, reply, [&services, run, body, id, reply] {
        auto admitted = services.admit_start(run.space);
        if (!admitted) {
            answer(reply, admitted.error());
            return;
        }
        services.engine.restart(
            run, id, Value::object({{"task.retry", body.without("id")}}),
            [reply, run, task = *body.find("task"), ticket = *admitted](const Result<Value>& done) {
                if (done) {
                    answer(reply, 201, done->with("restarted_from", run.id).with("task", task));
                } else {
                    answer(reply, problem_of(done.error()));
                }
            });
    });
}

void reopen_with(const Services& services, const engine::RunName& run, Value told,
                 const Reply& reply) {
    services.engine.reopen(run, std::move(told),
                           [reply](const Result<Value>& done) { answer(reply, done); });
}

/// Of a run that has ended, `retry` lets it go on there.
void retry_ended(const Services& services, const engine::RunName& run, const Value& body,
                 const Reply& reply) {
    auto read = [](const trigger::RunState* state) -> Result<Value> {
        return Value{state != nullptr && state->progress.status == trigger::Status::Succeeded};
    };
    services.engine.query(run, read, [&services, run, body, reply](const Result<Value>& succeeded) {
        if (!succeeded) {
            answer(reply, problem_of(succeeded.error()));
        } else if (succeeded->as_bool()) {
            restart_with(services, run, body, reply);
        } else {
            reopen_with(services, run, body.without("id"), reply);
        }
    });
}

void tell(const Services& services, const Verb& verb, const Incoming& incoming,
          const Reply& reply) {
    auto body = read_body(incoming, verb);
    if (!body) {
        answer(reply, problem_of(body.error()));
        return;
    }
    auto run = name_of(incoming);
    auto can_reopen = std::string_view{verb.action} == "task.retry";
    if (can_reopen && body->find("task") == nullptr) {
        reopen_with(services, run, {}, reply);
        return;
    }
    auto action = Value::object({{verb.action, body->without("id")}});
    services.engine.command(
        run, std::string{trigger::types::run_command}, Value::object({{"action", action}}),
        [&services, run, reply, can_reopen, body = *body](const Result<Value>& done) {
            if (!done) {
                answer(reply, problem_of(done.error()));
                return;
            }
            auto fate = value::text_at(*done, "fate");
            if (fate == "handled") {
                answer(reply, Result<Value>{
                                  Value::object({{"run", run.id}, {"task", *body.find("task")}})});
            } else if (fate == "late" && can_reopen) {
                retry_ended(services, run, body, reply);
            } else {
                answer(reply, problem_of_task(*done));
            }
        });
}

} // namespace

void add_run_task_routes(RouteTable& routes, const Services& services) {
    for (const auto& verb :
         {Verb{"/v1/runs/{run}/retry", "task.retry", {"input", "id"}},
          Verb{"/v1/runs/{run}/skip", "task.skip", {}},
          Verb{"/v1/runs/{run}/set-result", "task.set_result", {"result"}},
          Verb{"/v1/runs/{run}/approve", "task.approve", {"form", "by", "reject", "reason"}}}) {
        routes.add({http::Method::Post, verb.path, Policy{Role::Operator, true},
                    [&services, verb](const Incoming& incoming, const Reply& reply) {
                        tell(services, verb, incoming, reply);
                    }});
    }
}

} // namespace sluice::server
