#include "workflow/dag/check.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "trigger/form_reader.h"
#include "workflow/dag/internal/graph.h"
#include "workflow/dag/internal/settings.h"
#include "workflow/dag/parse.h"
#include "workflow/raw/check.h"
#include "workflow/raw/function_form.h"

namespace sluice::workflow::dag {

namespace {

using internal::Graph;
using trigger::describe;
using trigger::in_quotes;
using trigger::join_path;
using trigger::report;

constexpr auto cycle_shown_max = std::size_t{20};

/// The place of the text in a form that names this task, or the form's own.
std::string place_of(const Value& form, const std::string& path, const std::string& name) {
    if (form.is_string()) {
        auto text = form.as_string();
        return text.contains("tasks") && text.contains(name) ? path : std::string{};
    }
    auto look = [&](const Value& part, const std::string& place) {
        return place_of(part, place, name);
    };
    if (form.is_list()) {
        for (auto at = std::size_t{0}; at < form.size(); ++at) {
            if (auto found = look(form.as_list()[at], join_path(path, at)); !found.empty()) {
                return found;
            }
        }
    } else if (form.is_map()) {
        for (const auto& [key, member] : form.as_map()) {
            if (auto found = look(member, join_path(path, key)); !found.empty()) {
                return found;
            }
        }
    }
    return {};
}

/// What a flow gives may name any task of it, and of those around it.
void check_result(const Value& form, const std::string& path, const Flow& flow,
                  Problems& problems) {
    const auto* result = form.find("result");
    if (result == nullptr) {
        return;
    }
    internal::read_template(form, "result", path, flow.site, problems);
    auto uses = TaskUses{};
    add_uses(*result, flow.site, Handling::HandsOn, uses);
    for (const auto& name : uses.names) {
        auto is_there = false;
        for (const auto* around = &flow; around != nullptr; around = around->outer) {
            is_there |= around->by_name.contains(name);
        }
        if (!is_there) {
            auto place = path.empty() ? std::string{"result"} : join_path(path, "result");
            report(problems, place_of(*result, place, name),
                   fmt::format("there is no task {}", in_quotes(name)));
        }
    }
}

/// What is wrong with the tasks of one flow; those in bodies are checked when it meets them.
class FlowChecker {
public:
    FlowChecker(const Flow& flow, const std::shared_ptr<const Operators>& operators,
                const CheckOptions* known, Problems& problems, FlowChecker* outer)
        : flow_(flow),
          operators_(operators),
          known_(known),
          problems_(problems),
          outer_(outer),
          graph_(flow) {}

    void check() {
        if (auto cycle = graph_.cycle(); !cycle.empty()) {
            report_cycle(cycle);
        }
        for (auto at = std::uint32_t{0}; at < flow_.tasks.size(); ++at) {
            if (problems_.size() >= trigger::problems_max) {
                return;
            }
            check_task(at);
        }
    }

private:
    void report_cycle(const std::vector<std::uint32_t>& cycle) {
        auto names = std::string{};
        for (auto at = std::size_t{0}; at < std::min(cycle.size(), cycle_shown_max); ++at) {
            names += fmt::format("{}{}", at == 0 ? "" : " → ", flow_.tasks[cycle[at]].name);
        }
        names += cycle.size() > cycle_shown_max ? " → …" : "";
        const auto& first = flow_.tasks[cycle.front()];
        auto has_after = first.form.find("after") != nullptr;
        report(problems_, has_after ? join_path(first.path, "after") : first.path,
               fmt::format("the tasks wait for each other, so none can begin: {} → {}; expected "
                           "one of them not to come after the other",
                           names, first.name));
    }

    void check_task(std::uint32_t at) {
        const auto& task = flow_.tasks[at];
        if (!task.form.is_map()) {
            return;
        }
        auto found = Problems{};
        auto form = task.form;
        if (flow_.site.language == Language::Jsonata) {
            form = form.with("lang", "jsonata");
        }
        if (flow_.site.names.size() > 5) {
            auto names = std::vector<Value>(flow_.site.names.begin() + 5, flow_.site.names.end());
            form = form.with("names", Value::list(std::move(names)));
        }
        if (!task.kind.empty()) {
            internal::read_settings(form, operators_, found);
        }
        for (auto& problem : found) {
            report(problems_, join_path(task.path, problem.path), std::move(problem.message));
        }
        if (const auto* when = task.form.find("when"); when != nullptr && *when == Value{false}) {
            report(problems_, join_path(task.path, "when"),
                   "found false: the task can never begin, expected an expression, or no task");
        }
        check_functions(task);
        check_branch(at);
        for (const auto& name : task.uses.names) {
            check_reference(at, name);
        }
        if (task.body) {
            check_result(*task.form.find("map"), task.path + "/map", *task.body, problems_);
            FlowChecker{*task.body, operators_, known_, problems_, this}.check();
        }
    }

    void check_functions(const FlowTask& task) {
        if (known_ != nullptr && known_->refused_tasks.contains(task.kind)) {
            report(problems_, join_path(task.path, task.kind),
                   known_->refused_tasks.find(task.kind)->second);
        }
        check_call(task.form, task.path);
        for (const auto* member : {"map", "on_failure"}) {
            if (const auto* inner = task.form.find(member)) {
                check_call(*inner, join_path(task.path, member));
            }
        }
    }

    void check_call(const Value& form, const std::string& path) {
        check_function(form, path);
        if (known_ != nullptr) {
            raw::check_pool(form, path, *known_, problems_);
        }
    }

    void check_function(const Value& form, const std::string& path) {
        const auto* call = form.find("call");
        if (call == nullptr || !call->is_string() || call->size() == 0) {
            return;
        }
        auto name = call->as_string();
        // A name that is computed is known when it is called.
        if (known_ != nullptr && !known_->are_all_known && !name.contains("${") &&
            !raw::is_builtin(name) && !known_->known_functions.contains(name)) {
            report(problems_, join_path(path, "call"),
                   fmt::format("there is no function {}: expected one declared under functions, or "
                               "echo, fail, flaky, noop or sleep",
                               in_quotes(name)));
        }
    }

    /// Where a branch leads must come behind it.
    void check_branch(std::uint32_t at) {
        const auto& task = flow_.tasks[at];
        const auto* cases = task.kind == "branch" ? task.form.find("branch") : nullptr;
        if (cases == nullptr || !cases->is_list()) {
            return;
        }
        for (auto place = std::size_t{0}; place < cases->size(); ++place) {
            const auto* go = cases->as_list()[place].find("go");
            if (go == nullptr) {
                continue;
            }
            auto path = fmt::format("{}/branch/{}/go", task.path, place);
            if (go->is_list()) {
                for (auto each = std::size_t{0}; each < go->size(); ++each) {
                    check_target(at, go->as_list()[each], join_path(path, each));
                }
            } else {
                check_target(at, *go, path);
            }
        }
    }

    void check_target(std::uint32_t branch, const Value& name, const std::string& path) {
        if (!name.is_string()) {
            return;
        }
        auto found = flow_.by_name.find(name.as_string());
        if (found == flow_.by_name.end()) {
            report(problems_, path,
                   fmt::format("there is no task {}: expected one that comes after this",
                               in_quotes(name.as_string())));
            return;
        }
        const auto& after = flow_.tasks[found->second].after;
        if (std::ranges::find(after, branch) == after.end()) {
            report(problems_, path,
                   fmt::format("task {} does not come after this one: expected \"{}\" in its after",
                               in_quotes(name.as_string()), flow_.tasks[branch].name));
        }
    }

    void check_reference(std::uint32_t at, const std::string& name) {
        const auto& task = flow_.tasks[at];
        auto complain = [&](std::string message) {
            auto place = place_of(task.form, task.path, name);
            report(problems_, place.empty() ? task.path : place, std::move(message));
        };
        auto place = at;
        for (auto* checker = this; checker != nullptr;) {
            auto found = checker->flow_.by_name.find(name);
            if (found != checker->flow_.by_name.end()) {
                auto answer = checker->graph_.is_before(found->second, place);
                if (answer != Graph::Answer::Yes) {
                    complain(fmt::format("task \"{}\" {} come before: expected \"{}\" in after",
                                         name, answer == Graph::Answer::No ? "does not" : "may not",
                                         name));
                }
                return;
            }
            place = checker->flow_.owner;
            checker = checker->outer_;
        }
        complain(fmt::format("there is no task {}", in_quotes(name)));
    }

    const Flow& flow_;
    const std::shared_ptr<const Operators>& operators_;
    const CheckOptions* known_; ///< Null: they are known when they are called.
    Problems& problems_;
    FlowChecker* outer_;
    Graph graph_;
};

/// What is around the tasks.
class DefinitionChecker {
public:
    DefinitionChecker(const Operators& operators, const trigger::Vocabulary& vocabulary,
                      const CheckOptions& options)
        : operators_(std::make_shared<const Operators>(operators)),
          vocabulary_(vocabulary),
          known_(options) {}

    Problems check(const Value& form) {
        if (const auto* section = form.find("functions")) {
            for (const auto& function : raw::read_functions(*section, problems_)) {
                known_.add(function);
            }
        }
        flow_ = check_definition(form, "");
        check_nested(form);
        return std::move(problems_);
    }

    std::unique_ptr<Flow> take_flow() { return std::move(flow_); }

private:
    std::unique_ptr<Flow> check_definition(const Value& form, const std::string& path) {
        auto found = Problems{};
        auto reader = trigger::FormReader{
            form,
            "",
            found,
            {"name", "description", "lang", "input", "context", "result", "tasks", "timeout",
             "retention", "strategy", "fail_fast", "functions", "definitions"}};
        reader.boolean("fail_fast");
        reader.text("description");
        check_set(form, found);
        auto flow = parse(form, *operators_, found);
        check_result(form, "", *flow, found);
        dag::check(*flow, operators_, &known_, found);
        for (auto& problem : found) {
            report(problems_, path.empty() ? problem.path : join_path(path, problem.path),
                   std::move(problem.message));
        }
        return flow;
    }

    /// Those members that every definition has are the kernel's.
    static void check_set(const Value& form, Problems& problems) {
        auto members = std::vector<value::Member>{
            {"triggers", Value::list({Value::object({{"id", "x"}, {"on", "x"}})})}};
        for (const auto* name : {"name", "timeout", "retention", "context", "strategy"}) {
            if (const auto* member = form.find(name)) {
                members.push_back({name, *member});
            }
        }
        trigger::parse_set(Value::map(std::move(members)), {}, problems);
    }

    void check_nested(const Value& form) {
        const auto* nested = form.find("definitions");
        if (nested == nullptr) {
            return;
        }
        if (!nested->is_map()) {
            report(
                problems_, "definitions",
                fmt::format("found {}, expected a map of names to definitions", describe(*nested)));
            return;
        }
        for (const auto& [name, inner] : nested->as_map()) {
            auto path = join_path("definitions", name);
            for (const auto* member : {"name", "functions", "definitions"}) {
                if (inner.find(member) != nullptr) {
                    report(problems_, join_path(path, member),
                           "a nested definition goes by its key and uses what the file declares: "
                           "expected none here");
                }
            }
            if (is_dag(inner)) {
                check_definition(inner.with("name", name), path);
                continue;
            }
            for (auto& problem : raw::check(inner.with("name", name), vocabulary_, known_)) {
                report(problems_, join_path(path, problem.path), std::move(problem.message));
            }
        }
    }

    std::shared_ptr<const Operators> operators_;
    const trigger::Vocabulary& vocabulary_;
    CheckOptions known_; ///< With what the document declares.
    Problems problems_;
    std::unique_ptr<Flow> flow_;
};

} // namespace

void check(const Flow& flow, const std::shared_ptr<const Operators>& operators,
           const CheckOptions* known, Problems& problems) {
    FlowChecker{flow, operators, known, problems, nullptr}.check();
}

std::vector<raw::Finding> check(const raw::Document& document, const Operators& operators,
                                const trigger::Vocabulary& vocabulary, const CheckOptions& options,
                                std::unique_ptr<Flow>* flow) {
    auto checker = DefinitionChecker{operators, vocabulary, options};
    auto findings = raw::locate(document, checker.check(document.form));
    if (flow != nullptr) {
        *flow = checker.take_flow();
    }
    return findings;
}

} // namespace sluice::workflow::dag
