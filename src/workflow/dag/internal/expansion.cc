#include "workflow/dag/internal/expansion.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "workflow/dag/check.h"
#include "workflow/dag/compile.h"
#include "workflow/dag/internal/settings.h"
#include "workflow/dag/internal/task_bindings.h"
#include "workflow/dag/internal/words.h"
#include "workflow/dag/parse.h"

namespace sluice::workflow::dag::internal {

namespace {

using trigger::Attempt;

constexpr auto tasks_max = std::size_t{10'000};

std::unexpected<expr::Fault> refused(const Problems& problems) {
    return std::unexpected(expr::Fault{
        .code = "invalid_tasks",
        .message =
            fmt::format("the tasks it gave are wrong: {}", trigger::to_error(problems).message)});
}

/// Like those of a file: their names are their own, and they see the input of the run.
std::unique_ptr<Flow> read_tasks(const Step& step, const Value& tasks, Flow& around,
                                 Problems& problems) {
    const auto& settings = step.settings();
    around.prefixes = settings.prefixes;
    around.site = settings.site;
    around.tasks.resize(1);
    around.tasks.front().name = std::string{step.name()};
    auto body = parse_body(tasks, around, 0, *settings.operators, problems);
    body->outer = nullptr; // What is around it has begun already.
    if (tasks.size() > tasks_max) {
        problems.push_back(
            {"tasks", fmt::format("found {} tasks, expected at most {}", tasks.size(), tasks_max)});
    }
    for (const auto& task : body->tasks) {
        if (task.kind == "script" || task.kind == "http") {
            problems.push_back({task.path, fmt::format("found {}, expected call: functions are "
                                                       "declared before a run",
                                                       task.kind)});
        }
    }
    if (problems.empty()) {
        check(*body, settings.operators, nullptr, problems);
    }
    return body;
}

Attempt<void> add_triggers(Step& step, const std::vector<Value>& forms) {
    auto& decider = step.firing().decider();
    for (const auto& form : forms) {
        auto known = decider.triggers().find(form.find("id")->as_string());
        auto number = known.value_or(decider.triggers().next_number(step.state()));
        auto problems = Problems{};
        auto compiled = decider.triggers().check(number, form, problems);
        if (!compiled) {
            return refused(problems);
        }
        decider.override_trigger(number, form, std::move(compiled));
    }
    return {};
}

} // namespace

Attempt<void> expand(Step& step, const Value& given) {
    const auto* tasks = given.find("tasks");
    if (tasks == nullptr) {
        return refused({{"", "found no `tasks`, expected a map of names to tasks under it"}});
    }
    auto around = Flow{};
    auto problems = Problems{};
    auto body = read_tasks(step, *tasks, around, problems);
    if (!problems.empty()) {
        return refused(problems);
    }
    const auto* result = given.find("result");
    TRY(add_triggers(step, compile_body(*body, result == nullptr ? Value{} : *result,
                                        *step.settings().operators)));
    auto path = step.own_path() + "/0";
    auto scope = TRY(step.firing().open_scope("/" + path, Value{}));
    step.firing().emit(
        {.type = std::string{words::body_opened}, .subject = step.id(), .data = {}, .scope = path},
        scope);
    return {};
}

void end_body(Step& inner) {
    auto scope = inner.state().scope_at(outer_path(inner.path(), 1));
    if (!scope) {
        return;
    }
    auto outer = Step{inner.firing(), inner.settings(), inner.task(), *scope};
    if (!outer.is_active()) {
        return;
    }
    const auto& event = inner.firing().event();
    auto error = event.data_at(std::array{std::string_view{"error"}});
    auto result = event.data_at(std::array{std::string_view{"result"}});
    outer.cancel_work();
    if (error) {
        outer.fail(*error);
    } else {
        outer.succeed(result.value_or(Value{}));
    }
}

} // namespace sluice::workflow::dag::internal
