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
                                      in_quotes(type)));
        }
        if (job.is_map() && text_of(job, "name").empty()) {
            tasks_.report(task.path, "found no name, expected that of a transformation");
        }
        task.function = internal::function_name({text_of(job, "name"), task.name});
        task.function_path = join_path(task.path, "name");
        task.seconds = read_seconds(job, task.path);
        task.input = internal::input_of(task.name, task.seconds)
                         .with("arguments", internal::texts_of(member_of(job, "arguments")))
                         .with("inputs", read_inputs(job, at))
                         .with("outputs", read_outputs(job, at));
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

    Value read_inputs(const Value& job, std::uint32_t at) {
        auto files = std::vector<Value>{};
        for_each_use(job, "input", [&](std::string_view file, std::size_t) {
            files.push_back(internal::literal(file));
            readers_.emplace_back(file, at);
        });
        return Value::list(std::move(files));
    }

    /// Were there several who write a file, all who read it would come after each of them.
    Value read_outputs(const Value& job, std::uint32_t at) {
        auto files = std::vector<Value>{};
        for_each_use(job, "output", [&](std::string_view file, std::size_t place) {
            files.push_back(internal::literal(file));
            auto [first, is_new] = writers_.try_emplace(file, at);
            if (!is_new) {
                tasks_.report(fmt::format("{}/uses/{}", tasks_.task(at).path, place),
                              fmt::format("found {} as an output again, expected one job to write "
                                          "it: the first is {}",
                                          in_quotes(file), tasks_.task(first->second).path));
            }
        });
        return Value::list(std::move(files));
    }

    template <typename Visit>
    static void for_each_use(const Value& job, std::string_view type, Visit visit) {
        const auto* uses = member_of(job, "uses");
        for (auto at = std::size_t{0}; uses != nullptr && uses->is_list() && at < uses->size();
             ++at) {
            const auto& use = uses->as_list()[at];
            auto file = text_of(use, "lfn");
            if (text_of(use, "type") == type && !file.empty()) {
                visit(file, at);
            }
        }
    }

    /// Who reads a file comes after who writes it, as Pegasus has it.
    void link_by_files() {
        for (const auto& [file, reader] : readers_) {
            auto writer = writers_.find(file);
            if (writer != writers_.end() && writer->second != reader) {
                tasks_.put_after(reader, writer->second);
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
                                          in_quotes(text_of(entry, "id"))));
                continue;
            }
            for (auto behind : tasks_.find_all(entry, path, "children")) {
                tasks_.put_after(behind, *before);
            }
        }
    }

    internal::TaskReader tasks_;
    std::vector<std::pair<std::string_view, std::uint32_t>> readers_; ///< Of files, by name.
    std::unordered_map<std::string_view, std::uint32_t> writers_;     ///< The same.
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
