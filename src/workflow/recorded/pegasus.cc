#include <map>
#include <utility>

#include <fmt/format.h>

#include "trigger/form_reader.h"
#include "workflow/recorded/internal/task_reader.h"

namespace sluice::workflow::recorded {

namespace {

using internal::member_of;
using internal::text_of;
using trigger::describe;
using trigger::join_path;
using trigger::quoted;

class PegasusReader {
public:
    PegasusReader(Workflow& workflow, Problems& problems) : tasks_(workflow, problems) {}

    void read(const Value& form) {
        const auto* jobs = tasks_.list_of_tasks(form, "", "jobs");
        for (auto at = std::size_t{0}; jobs != nullptr && at < jobs->size(); ++at) {
            const auto& job = jobs->as_list()[at];
            read_job(job, tasks_.add(job, {"id"}));
        }
        link_by_files();
        read_dependencies(form);
    }

private:
    void read_job(const Value& job, std::uint32_t at) {
        auto& task = tasks_.task(at);
        auto type = text_of(job, "type");
        if (!type.empty() && type != "job") {
            tasks_.report(join_path(task.path, "type"),
                          fmt::format("found {}, expected job: run other workflows on their own",
                                      quoted(type)));
        }
        if (job.is_map() && text_of(job, "name").empty()) {
            tasks_.report(task.path, "found no name, expected that of a transformation");
        }
        task.function = internal::function_name({text_of(job, "name"), task.name});
        task.function_path = join_path(task.path, "name");
        task.input = internal::input_of(task.name, read_seconds(job, task.path))
                         .with("arguments", internal::texts_of(member_of(job, "arguments")))
                         .with("inputs", read_uses(job, "input", readers_, at))
                         .with("outputs", read_uses(job, "output", writers_, at));
    }

    /// As metadata or as the profile of that name; nothing: no time at all.
    double read_seconds(const Value& job, const std::string& path) {
        const auto* profiles = member_of(job, "profiles");
        const auto* metadata = member_of(job, "metadata");
        for (const auto& [section, name] :
             {std::pair{metadata, "metadata"},
              {profiles == nullptr ? nullptr : member_of(*profiles, "pegasus"),
               "profiles/pegasus"}}) {
            const auto* runtime = section == nullptr ? nullptr : member_of(*section, "runtime");
            if (runtime == nullptr) {
                continue;
            }
            auto seconds = internal::seconds_of(*runtime);
            if (!seconds) {
                tasks_.report(fmt::format("{}/{}/runtime", path, name),
                              fmt::format("found {}, expected {}", describe(*runtime),
                                          internal::seconds_expected));
            }
            return seconds.value_or(0);
        }
        return 0;
    }

    using Users = std::map<std::string_view, std::vector<std::uint32_t>>;

    static Value read_uses(const Value& job, std::string_view type, Users& users,
                           std::uint32_t at) {
        auto files = std::vector<Value>{};
        const auto* uses = member_of(job, "uses");
        for (auto each = std::size_t{0}; uses != nullptr && uses->is_list() && each < uses->size();
             ++each) {
            const auto& use = uses->as_list()[each];
            auto file = text_of(use, "lfn");
            if (text_of(use, "type") == type && !file.empty()) {
                files.push_back(internal::literal(file));
                users[file].push_back(at);
            }
        }
        return Value::list(std::move(files));
    }

    /// Who reads a file comes after who writes it, as Pegasus has it.
    void link_by_files() {
        for (const auto& [file, readers] : readers_) {
            auto found = writers_.find(file);
            for (auto writer :
                 found == writers_.end() ? std::vector<std::uint32_t>{} : found->second) {
                for (auto reader : readers) {
                    if (reader != writer) {
                        tasks_.put_after(reader, writer);
                    }
                }
            }
        }
    }

    void read_dependencies(const Value& form) {
        const auto* list = member_of(form, "jobDependencies");
        if (list != nullptr && !list->is_list()) {
            tasks_.report("jobDependencies", fmt::format("found {}, expected a list of maps with "
                                                         "id and children",
                                                         describe(*list)));
            return;
        }
        for (auto at = std::size_t{0}; list != nullptr && at < list->size(); ++at) {
            const auto& entry = list->as_list()[at];
            auto path = fmt::format("jobDependencies/{}", at);
            auto before = tasks_.find(text_of(entry, "id"));
            if (!before) {
                tasks_.report(path,
                              fmt::format("there is no job {}: expected the id of one in jobs",
                                          quoted(text_of(entry, "id"))));
                continue;
            }
            for (auto behind : tasks_.find_all(entry, path, "children")) {
                tasks_.put_after(behind, *before);
            }
        }
    }

    internal::TaskReader tasks_;
    Users readers_; ///< Of files, by their logical names.
    Users writers_;
};

} // namespace

Workflow read_pegasus(const Value& form, Problems& problems) {
    auto workflow = Workflow{.name = internal::definition_name(form, problems),
                             .language = "pegasus",
                             .tasks_path = "jobs",
                             .after_member = "uses"};
    PegasusReader{workflow, problems}.read(form);
    return workflow;
}

} // namespace sluice::workflow::recorded
