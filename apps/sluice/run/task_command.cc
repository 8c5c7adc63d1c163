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

/// The command; of a run that has ended, `retry` reopens it there.
Result<void> tell(engine::Engine& engine, const TaskOptions& options, const Value& body) {
    auto run = engine::RunName{.id = options.run};
    auto name = "task." + options.verb;
    std::ranges::replace(name, '-', '_');
    auto action = Value::object({{"action", Value::object({{name, body}})}});
    auto done = TRY(wait_for([&](auto answered) {
        engine.command(run, std::string{trigger::types::run_command}, action, std::move(answered));
    }));
    auto fate = text_at(done, "fate");
    if (fate == "handled") {
        return {};
    }
    if (fate == "late" && options.verb == "retry") {
        TRY(wait_for([&](auto answered) { engine.reopen(run, body, std::move(answered)); }));
        return {};
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
    if (auto done = tell((*session)->engine(), options, *body); !done) {
        return report(done.error());
    }
    if (options.is_json) {
        print_json(body->with("run", options.run));
    } else {
        print(
            "run {} goes on: `sluice run` with its definition, --run {} and --data {} continues it",
            options.run, options.run, options.data);
    }
    return ExitCode::Ok;
}

} // namespace sluice::app
