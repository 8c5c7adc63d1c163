#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "trigger/form_reader.h"
#include "workflow/recorded/internal/task_reader.h"

namespace sluice::workflow::recorded {

namespace {

using internal::member_of;
using internal::text_of;
using trigger::describe;
using trigger::in_quotes;
using trigger::join_path;

/// Since 1.5 what was planned and what was seen stand apart, joined by id; before, a task has
/// both, and tasks name each other by name.
class WfFormatReader {
public:
    WfFormatReader(Workflow& workflow, Problems& problems) : tasks_(workflow, problems) {}

    void read(const Value& workflow) {
        const auto* specification = member_of(workflow, "specification");
        if (specification != nullptr) {
            read_specification(*specification);
            read_execution(workflow);
        } else {
            read_older(workflow);
        }
        for (auto at = std::uint32_t{0}; at < forms_.size(); ++at) {
            link(at);
        }
    }

private:
    void read_specification(const Value& specification) {
        const auto* list = tasks_.list_of_tasks(specification, "workflow/specification", "tasks");
        for (auto at = std::size_t{0}; list != nullptr && at < list->size(); ++at) {
            const auto& form = list->as_list()[at];
            tasks_.add(form, {"id", "name"});
            forms_.push_back(&form);
        }
    }

    void read_older(const Value& workflow) {
        auto member = member_of(workflow, "jobs") != nullptr ? "jobs" : "tasks";
        const auto* list = tasks_.list_of_tasks(workflow, "workflow", member);
        for (auto at = std::size_t{0}; list != nullptr && at < list->size(); ++at) {
            const auto& form = list->as_list()[at];
            forms_.push_back(&form);
            settle(tasks_.add(form, {"name", "id"}), form, "");
        }
        // Names go before ids, whichever task comes first.
        for (auto at = std::uint32_t{0}; at < forms_.size(); ++at) {
            if (auto id = text_of(*forms_[at], "id"); !id.empty()) {
                tasks_.add_alias(id, at);
            }
        }
    }

    void read_execution(const Value& workflow) {
        const auto* execution = member_of(workflow, "execution");
        const auto* list = execution == nullptr ? nullptr : member_of(*execution, "tasks");
        if (forms_.empty()) {
            return;
        }
        if (list == nullptr || !list->is_list()) {
            tasks_.report(execution == nullptr ? "workflow" : "workflow/execution",
                          "found no run times, expected execution with tasks, each with id and "
                          "runtimeInSeconds");
            return;
        }
        auto has_time = std::vector<bool>(forms_.size());
        for (auto at = std::size_t{0}; at < list->size(); ++at) {
            auto path = fmt::format("workflow/execution/tasks/{}", at);
            read_executed(list->as_list()[at], path, has_time);
        }
        for (auto at = std::uint32_t{0}; at < forms_.size(); ++at) {
            const auto& task = tasks_.task(at);
            if (!has_time[at] && !task.name.empty()) {
                tasks_.report(task.path,
                              fmt::format("task {} has no run time, expected one in "
                                          "workflow/execution/tasks: its id and runtimeInSeconds",
                                          in_quotes(task.name)));
            }
        }
    }

    void read_executed(const Value& form, const std::string& path, std::vector<bool>& has_time) {
        auto id = text_of(form, "id");
        auto task = id.empty() ? std::nullopt : tasks_.find(id);
        if (!task) {
            tasks_.report(id.empty() ? path : join_path(path, "id"),
                          id.empty() ? std::string{"found no id, expected that of a task in "
                                                   "workflow/specification/tasks"}
                                     : fmt::format("there is no task {} in "
                                                   "workflow/specification/tasks: expected it "
                                                   "there too, or not here",
                                                   in_quotes(id)));
            return;
        }
        if (has_time[*task]) {
            tasks_.report(join_path(path, "id"),
                          fmt::format("found {} again, expected each task once", in_quotes(id)));
            return;
        }
        has_time[*task] = true;
        settle(*task, form, path);
    }

    /// What was seen of a task: how long it took, and what it ran. An older task is seen where it
    /// is planned.
    void settle(std::uint32_t at, const Value& seen, const std::string& seen_path) {
        auto& task = tasks_.task(at);
        const auto& form = *forms_[at];
        const auto& path = seen_path.empty() ? task.path : seen_path;
        auto seconds = read_seconds(seen, path);
        const auto* command = member_of(seen, "command");
        auto program = command == nullptr ? std::string_view{} : text_of(*command, "program");
        task.function = internal::function_name(
            {program, text_of(form, "category"), text_of(form, "name"), task.name});
        task.function_path = program.empty() ? std::string{} : path + "/command/program";
        // Arguments and files are a record too, which may be large: who wants them finds them in
        // it.
        task.seconds = seconds;
        task.input = internal::input_of(task.name, seconds);
    }

    double read_seconds(const Value& form, const std::string& path) {
        for (const auto* name : {"runtimeInSeconds", "runtime"}) {
            const auto* found = member_of(form, name);
            if (found == nullptr) {
                continue;
            }
            auto seconds = found->is_string() ? std::nullopt : internal::seconds_of(*found);
            if (!seconds) {
                tasks_.report(join_path(path, name),
                              fmt::format("found {}, expected {}", describe(*found),
                                          internal::seconds_expected));
            }
            return seconds.value_or(0);
        }
        if (form.is_map()) {
            tasks_.report(path, fmt::format("found no runtimeInSeconds, expected {}",
                                            internal::seconds_expected));
        }
        return 0;
    }

    /// Files differ in which of the two they have; what either says holds.
    void link(std::uint32_t at) {
        const auto path = tasks_.task(at).path;
        for (auto before : tasks_.find_all(*forms_[at], path, "parents")) {
            tasks_.put_after(at, before);
        }
        for (auto behind : tasks_.find_all(*forms_[at], path, "children")) {
            tasks_.put_after(behind, at);
        }
    }

    internal::TaskReader tasks_;
    std::vector<const Value*> forms_; ///< By task.
};

} // namespace

Workflow read_wfformat(const Value& form, Problems& problems) {
    auto workflow = Workflow{.name = internal::definition_name(form, problems),
                             .language = "wfformat",
                             .tasks_path = "workflow",
                             .after_member = "parents"};
    const auto* found = member_of(form, "workflow");
    if (found == nullptr || !found->is_map()) {
        trigger::report(problems, "workflow",
                        fmt::format("found {}, expected a map with specification and execution",
                                    found == nullptr ? "null" : describe(*found)));
        return workflow;
    }
    WfFormatReader{workflow, problems}.read(*found);
    return workflow;
}

} // namespace sluice::workflow::recorded
