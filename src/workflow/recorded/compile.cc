#include "workflow/recorded/compile.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "trigger/form_reader.h"
#include "workflow/dag/check.h"
#include "workflow/dag/compile.h"
#include "workflow/dag/parse.h"
#include "workflow/raw/function_form.h"
#include "workflow/recorded/recorded.h"

namespace sluice::workflow::recorded {

namespace {

using Names = std::set<std::string, std::less<>>;

void remove_repeated(Workflow& workflow) {
    for (auto& task : workflow.tasks) {
        std::ranges::sort(task.after);
        auto repeated = std::ranges::unique(task.after);
        task.after.erase(repeated.begin(), repeated.end());
    }
}

/// The seconds from the beginning of each task to the end of the workflow. Tasks that wait for each
/// other, and those before them, have none.
std::vector<double> seconds_to_end(const Workflow& workflow) {
    auto seconds = std::vector<double>(workflow.tasks.size());
    auto open = std::vector<std::uint32_t>(workflow.tasks.size());
    for (const auto& task : workflow.tasks) {
        for (auto before : task.after) {
            ++open[before];
        }
    }
    auto ready = std::vector<std::uint32_t>{};
    for (auto at = std::uint32_t{0}; at < open.size(); ++at) {
        if (open[at] == 0) {
            ready.push_back(at);
        }
    }
    for (auto next = std::size_t{0}; next < ready.size(); ++next) {
        const auto& task = workflow.tasks[ready[next]];
        seconds[ready[next]] += task.seconds;
        for (auto before : task.after) {
            seconds[before] = std::max(seconds[before], seconds[ready[next]]);
            if (--open[before] == 0) {
                ready.push_back(before);
            }
        }
    }
    return seconds;
}

/// Of tasks that can begin together, the one on the longest way to the end is to be first.
std::vector<std::uint32_t> longest_first(const Workflow& workflow) {
    auto order = std::vector<std::uint32_t>(workflow.tasks.size());
    std::iota(order.begin(), order.end(), 0U);
    auto seconds = seconds_to_end(workflow);
    std::ranges::stable_sort(order, std::greater{}, [&](auto at) { return seconds[at]; });
    return order;
}

/// The definition that somebody would have written.
Value as_tasks(Workflow& workflow) {
    remove_repeated(workflow);
    auto tasks = std::vector<value::Member>{};
    tasks.reserve(workflow.tasks.size());
    for (auto at : longest_first(workflow)) {
        const auto& task = workflow.tasks[at];
        auto form = Value::object({{"call", task.function}, {"input", task.input}});
        if (!task.after.empty()) {
            auto names = std::vector<Value>{};
            for (auto before : task.after) {
                names.emplace_back(workflow.tasks[before].name);
            }
            form = form.with("after", Value::list(std::move(names)));
        }
        tasks.push_back({task.name, std::move(form)});
    }
    return Value::object({{"name", workflow.name}, {"tasks", Value::map(std::move(tasks))}});
}

/// One problem for each function that is not there, at the first task that calls it.
void check_functions(const Workflow& workflow, const Names& functions, Problems& problems) {
    struct Missing {
        const Task* first = nullptr;
        std::size_t count = 0;
    };
    auto missing = std::map<std::string_view, Missing>{};
    for (const auto& task : workflow.tasks) {
        if (!functions.contains(task.function)) {
            auto& entry = missing[task.function];
            entry.first = entry.first == nullptr ? &task : entry.first;
            ++entry.count;
        }
    }
    for (const auto& [name, entry] : missing) {
        const auto& task = *entry.first;
        trigger::report(problems, task.function_path.empty() ? task.path : task.function_path,
                        fmt::format("there is no function {}, which {} task{} call{}: declare it "
                                    "in a file for --functions, set it up on the server, or run "
                                    "it with --functions simulate",
                                    trigger::in_quotes(name), entry.count,
                                    entry.count == 1 ? "" : "s", entry.count == 1 ? "s" : ""));
    }
}

/// A problem of the tasks that were made, at what they were made from.
void translate(const Workflow& workflow, Problems made, Problems& problems) {
    auto paths = std::map<std::string, const Task*, std::less<>>{};
    for (const auto& task : workflow.tasks) {
        paths.emplace("tasks/" + task.name, &task);
    }
    for (auto& problem : made) {
        auto end = problem.path.find('/', std::string_view{"tasks/"}.size());
        auto found = paths.find(problem.path.substr(0, end));
        auto path = workflow.tasks_path;
        if (found != paths.end()) {
            path = problem.path.ends_with("/after")
                       ? trigger::join_path(found->second->path, workflow.after_member)
                       : found->second->path;
        }
        trigger::report(problems, std::move(path), std::move(problem.message));
    }
}

} // namespace

bool is_recorded(const Value& form) {
    return form.is_map() && form.find("triggers") == nullptr &&
           (form.find("workflow") != nullptr || form.find("pegasus") != nullptr);
}

std::expected<raw::Definition, std::vector<raw::Finding>> compile(const raw::Document& document,
                                                                  const dag::Operators& operators,
                                                                  const Names* functions) {
    auto problems = Problems{};
    auto workflow = document.form.find("pegasus") != nullptr
                        ? read_pegasus(document.form, problems)
                        : read_wfformat(document.form, problems);
    if (!problems.empty()) {
        return std::unexpected(raw::locate(document, std::move(problems)));
    }
    if (functions != nullptr) {
        check_functions(workflow, *functions, problems);
    }
    auto form = as_tasks(workflow);
    auto made = Problems{};
    auto flow = dag::parse(form, operators, made);
    dag::check(*flow, std::make_shared<const dag::Operators>(operators), nullptr, made);
    translate(workflow, std::move(made), problems);
    if (!problems.empty()) {
        return std::unexpected(raw::locate(document, std::move(problems)));
    }
    auto definition = dag::compile(form, operators, flow.get());
    definition.language = workflow.language;
    return definition;
}

} // namespace sluice::workflow::recorded
