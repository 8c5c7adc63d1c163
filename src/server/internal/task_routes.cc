#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "connector/poll/desk.h"
#include "server/services.h"
#include "trigger/history.h"
#include "value/time_text.h"

namespace sluice::server {

namespace {

constexpr Nanos poll_wait_default = std::chrono::seconds{30};
// Shorter than what proxies between a worker and us let pass as idle.
constexpr Nanos poll_wait_max = std::chrono::seconds{60};
constexpr auto poll_most_max = std::size_t{100};

Problem unknown_task() {
    return {
        .status = 404,
        .code = "unknown_task",
        .detail = "the token names no task of this server: use the one that the task came with"};
}

Problem closed_task() {
    return {.status = 409,
            .code = "task_closed",
            .detail =
                "nobody waits for this: the task was answered, cancelled, given to another "
                "worker, or its time was over"};
}

Problem problem_of_task(const Error& error) {
    return error.code == Errc::InvalidInput ? unknown_task() : problem_of(error);
}

Result<connector::poll::Question> read_question(const Incoming& incoming) {
    auto question = connector::poll::Question{
        .space = incoming.space, .function = incoming.part("function"), .wait = poll_wait_default};
    for (const auto& [name, text] : incoming.target.query) {
        if (name == "wait") {
            auto wait = value::parse_duration(text);
            if (!wait || *wait < Nanos{0} || *wait > poll_wait_max) {
                return fail(Errc::InvalidInput, "wait={}: expected a duration from 0s to 60s",
                            text);
            }
            question.wait = *wait;
        } else if (name == "most") {
            auto [end, error] =
                std::from_chars(text.data(), text.data() + text.size(), question.most);
            if (error != std::errc{} || end != text.data() + text.size() || question.most == 0 ||
                question.most > poll_most_max) {
                return fail(Errc::InvalidInput, "most={}: expected 1 to {}", text, poll_most_max);
            }
        } else if (name != "namespace") {
            return fail(Errc::InvalidInput, "there is no parameter {}", name);
        }
    }
    return question;
}

double seconds_of(Nanos duration) {
    return std::chrono::duration<double>(duration).count();
}

Value view_of(const connector::poll::Task& task, Time now) {
    auto view = Value::object({{"token", task.token},
                               {"function", task.function},
                               {"run", task.run},
                               {"idempotency_key", task.key},
                               {"input", task.input},
                               {"attempt", static_cast<std::int64_t>(task.attempt)},
                               {"offer", static_cast<std::int64_t>(task.offer)},
                               {"lease", static_cast<std::int64_t>(task.lease)},
                               {"lease_seconds", seconds_of(task.lease_time)}});
    if (task.time_left > Nanos{0}) {
        view = view.with("deadline", now + task.time_left);
    }
    return task.trace.empty() ? view : view.with("traceparent", task.trace);
}

void poll(const Services& services, const Incoming& incoming, const Reply& reply) {
    const auto& name = incoming.part("function");
    auto function = services.functions->find(incoming.space, name);
    auto question = read_question(incoming);
    if (!question) {
        answer(reply, problem_of(question.error()));
        return;
    }
    if (!function || *function->find("kind") != Value{"poll"}) {
        answer(reply,
               Problem{.status = 404,
                       .code = "not_found",
                       .detail = fmt::format("there is no function \"{}\" of kind poll", name)});
        return;
    }
    auto give = [&services, reply](const std::vector<connector::poll::Task>& tasks) {
        if (tasks.empty()) {
            reply->answer({.status = 204});
            return;
        }
        auto views = std::vector<Value>{};
        for (const auto& task : tasks) {
            views.push_back(view_of(task, services.clock.wall()));
        }
        answer(reply, 200, Value::object({{"tasks", Value::list(std::move(views))}}));
    };
    // A worker that died while it waited must not be given the next task.
    if (auto withdraw = services.tasks->ask(*std::move(question), std::move(give))) {
        reply->when_gone(std::move(withdraw));
    }
}

/// `{kind, message, detail}`, all of them optional.
Result<event::Answer> read_failure(const Value& form) {
    auto given = event::failure("failed", "the function failed");
    for (const auto& [name, value] : form.as_map()) {
        if (name == "detail") {
            given.error_detail = value;
        } else if ((name == "kind" || name == "message") && value.is_string() && value.size() > 0) {
            (name == "kind" ? given.error_kind : given.error_message) = value.as_string();
        } else {
            return fail(Errc::InvalidInput, "{}: expected kind and message (texts), detail", name);
        }
    }
    return given;
}

Result<event::Answer> read_success(const Value& form) {
    auto given = event::Answer{};
    for (const auto& [name, value] : form.as_map()) {
        if (name != "result") {
            return fail(Errc::InvalidInput, "{}: expected result", name);
        }
        given.result = value;
    }
    return given;
}

/// What a callback says: `{result}` or `{error: {…}}`.
Result<event::Answer> read_either(const Value& form) {
    const auto* error = form.find("error");
    if (error == nullptr) {
        return read_success(form);
    }
    if (form.size() != 1 || !error->is_map()) {
        return fail(Errc::InvalidInput,
                    "error: expected a map with kind, message and detail, and no result");
    }
    return read_failure(*error);
}

/// The token is the right to answer: whoever has it was given the task.
Handle answer_task(const Services& services, Result<event::Answer> (*read)(const Value&)) {
    return [&services, read](const Incoming& incoming, const Reply& reply) {
        auto form = incoming.json();
        auto given = form ? read(*form) : Result<event::Answer>{std::unexpected(form.error())};
        if (!given) {
            answer(reply, problem_of(given.error()));
            return;
        }
        services.engine.answer(
            incoming.part("token"), *std::move(given), [reply](const Result<Value>& taken) {
                if (!taken) {
                    answer(reply, problem_of_task(taken.error()));
                } else if (*taken->find("fate") == Value{to_string(trigger::Fate::Late)}) {
                    answer(reply, closed_task());
                } else {
                    answer(reply, 200, *taken);
                }
            });
    };
}

Result<std::uint64_t> read_lease(const Incoming& incoming) {
    auto form = TRY(incoming.json());
    auto lease = std::uint64_t{0};
    for (const auto& [name, value] : form.as_map()) {
        if (name != "lease" || !value.is_int() || value.as_int() < 1) {
            return fail(Errc::InvalidInput, "{}: expected lease, the number the task came with",
                        name);
        }
        lease = static_cast<std::uint64_t>(value.as_int());
    }
    return lease;
}

void heartbeat(const Services& services, const Incoming& incoming, const Reply& reply) {
    auto lease = read_lease(incoming);
    if (!lease) {
        answer(reply, problem_of(lease.error()));
        return;
    }
    services.engine.heartbeat(incoming.part("token"), *lease,
                              [reply](const Result<Value>& is_open) {
                                  if (!is_open) {
                                      answer(reply, problem_of_task(is_open.error()));
                                  } else if (*is_open != Value{true}) {
                                      answer(reply, closed_task());
                                  } else {
                                      reply->answer({.status = 204});
                                  }
                              });
}

} // namespace

void add_task_routes(RouteTable& routes, const Services& services) {
    routes.add({http::Method::Post,
                "/v1/functions/{function}/poll",
                {Role::Operator, true, false},
                [&services](const Incoming& incoming, const Reply& reply) {
                    poll(services, incoming, reply);
                }});
    // Not audited: the path has the token, and the history of the run has the answer.
    constexpr auto by_token = Policy{Role::Anyone, false, false};
    routes.add(
        {http::Method::Post, "/v1/tasks/{token}", by_token, answer_task(services, read_either)});
    routes.add({http::Method::Post, "/v1/tasks/{token}/complete", by_token,
                answer_task(services, read_success)});
    routes.add({http::Method::Post, "/v1/tasks/{token}/fail", by_token,
                answer_task(services, read_failure)});
    routes.add({http::Method::Post, "/v1/tasks/{token}/heartbeat", by_token,
                [&services](const Incoming& incoming, const Reply& reply) {
                    heartbeat(services, incoming, reply);
                }});
}

} // namespace sluice::server
