#include "sluice/run/task_command.h"

#include <algorithm>
#include <future>
#include <utility>

#include "cli/json_option.h"
#include "sluice/definition_file.h"
#include "sluice/output.h"
#include "sluice/session.h"
#include "trigger/arrival.h"
#include "value/json.h"

namespace sluice::app {

namespace {

template <typename Ask>
Result<Value> wait_for(Ask ask) {
    auto answered = std::promise<Result<Value>>{};
    ask([&](Result<Value> answer) { answered.set_value(std::move(answer)); });
    return answered.get_future().get();
}

bool has_succeeded(engine::Engine& engine, const engine::RunName& run) {
    auto read = [](const trigger::RunState* state) -> Result<Value> {
        return Value{state != nullptr && state->progress.status == trigger::Status::Succeeded};
    };
    auto answer = wait_for([&](auto answered) { engine.query(run, read, std::move(answered)); });
    return answer && answer->as_bool();
}

/// A run that has ended: it is reopened there, or a new one goes on in place of one that succeeded.
/// Gives its id.
Result<std::string> retry_ended(engine::Engine& engine, const TaskOptions& options,
                                const Value& body) {
    auto run = engine::RunName{.id = options.run};
    if (!has_succeeded(engine, run)) {
        TRY(wait_for([&](auto answered) { engine.reopen(run, body, std::move(answered)); }));
        return run.id;
    }
    auto id = options.id.empty() ? options.run + "-again" : options.id;
    auto action = Value::object({{"task.retry", body}});
    TRY(wait_for([&](auto answered) { engine.restart(run, id, action, std::move(answered)); }));
    return id;
}

/// The command. Gives the id of the run that goes on.
Result<std::string> tell(engine::Engine& engine, const TaskOptions& options, const Value& body) {
    auto run = engine::RunName{.id = options.run};
    auto name = "task." + options.verb;
    std::ranges::replace(name, '-', '_');
    auto action = Value::object({{"action", Value::object({{name, body}})}});
    auto done = TRY(wait_for([&](auto answered) {
        engine.command(run, std::string{trigger::types::run_command}, action, std::move(answered));
    }));
    auto fate = text_at(done, "fate");
    if (fate == "handled") {
        return run.id;
    }
    if (fate == "late" && options.verb == "retry") {
        return retry_ended(engine, options, body);
    }
    const auto* reply = done.find("reply");
    const auto* error = reply == nullptr ? nullptr : reply->find("error");
    return fail(Errc::InvalidInput, "{}",
                error == nullptr ? "the run has ended" : text_at(*error, "message"));
}

} // namespace

Result<Value> TaskOptions::body() const {
    auto told = Value::object({});
    if (!task.empty()) {
        told = told.with("task", task);
    }
    if (!input.empty()) {
        told = told.with("input", TRY(cli::read_json_option("--input", input)));
    }
    if (!result.empty()) {
        told = told.with("result", TRY(cli::read_json_option("--result", result)));
    }
    if (!form.empty()) {
        told = told.with("form", TRY(cli::read_json_option("--form", form)));
    }
    if (!by.empty()) {
        told = told.with("by", by);
    }
    if (is_rejected) {
        told = told.with("reject", true);
    }
    return reason.empty() ? told : told.with("reason", reason);
}

ExitCode tell_task(const TaskOptions& options) {
    auto body = options.body();
    if (!body) {
        return report(body.error());
    }
    if (auto there = check_directory(options.data); !there) {
        return report(there.error());
    }
    auto session = Session::open({.data = options.data, .calls_functions = false});
    if (!session) {
        return report(session.error());
    }
    auto run = tell((*session)->engine(), options, *body);
    if (!run) {
        return report(run.error());
    }
    if (options.is_json) {
        print_json(body->with("run", *run));
    } else {
        print(
            "run {} goes on: `sluice run` with its definition, --run {} and --data {} continues it",
            *run, *run, options.data);
    }
    return ExitCode::Ok;
}

} // namespace sluice::app
