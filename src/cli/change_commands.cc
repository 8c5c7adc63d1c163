#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/internal/run_list.h"
#include "cli/json_option.h"
#include "cli/output.h"
#include "value/json.h"
#include "value/wording.h"

namespace sluice::cli {

namespace {

struct ChangeOptions {
    Connection connection;
    std::string change; ///< `cancel`
    std::vector<std::string> runs;
    RunListOptions many; ///< Or all that this finds.
    bool is_all = false;
    bool is_tried = false;
    std::string reason;
    std::string task;  ///< Of `retry`: where it goes on.
    std::string input; ///< Of that task: JSON; empty: what its definition says.
    std::string id;    ///< Of the run that goes on in place of one that has succeeded.
    bool is_json = false;

    bool has_filter() const {
        const auto& filter = many.filter;
        const auto texts = {&filter.status,        &filter.definition,     &filter.label,
                            &filter.started_after, &filter.started_before, &filter.ended_after,
                            &filter.ended_before};
        return std::ranges::any_of(texts, [](const auto* text) { return !text->empty(); });
    }
};

Result<Value> body_of(const ChangeOptions& options) {
    auto body = Value{};
    for (const auto& [name, text] :
         {std::pair{"reason", &options.reason}, {"task", &options.task}, {"id", &options.id}}) {
        if (!text->empty()) {
            body = body.with(name, *text);
        }
    }
    auto is_of_task = !options.input.empty() || !options.id.empty();
    if (is_of_task && options.task.empty()) {
        return fail(Errc::InvalidInput, "--input and --as are for a task: name it with --task");
    }
    if (options.input.empty()) {
        return body;
    }
    return body.with("input", TRY(read_json_option("--input", options.input)));
}

ExitCode change_each(client::Client& client, const ChangeOptions& options) {
    auto worst = ExitCode::Ok;
    auto body = body_of(options);
    if (!body) {
        return report(body.error());
    }
    for (const auto& run : options.runs) {
        auto changed = client.command(run, options.change, *body);
        if (!changed) {
            worst = std::max(worst, report(client, changed.error(), run));
        } else if (options.is_json) {
            print_line(
                value::to_json(changed->is_map() ? *changed : Value::object({{"run", run}})));
        } else {
            auto told = value::text_at(*changed, "run");
            print_line(told.empty() ? run : told);
        }
    }
    return worst;
}

ExitCode change_many(client::Client& client, const ChangeOptions& options) {
    auto filter = options.many.read_filter();
    if (!filter) {
        return report(filter.error());
    }
    auto more = client::Query{};
    if (options.is_all) {
        more.emplace_back("all", "true");
    }
    if (options.is_tried) {
        more.emplace_back("dry_run", "true");
    }
    filter->page = 1'000;
    auto changed = client.change_runs(options.change, *filter, std::move(more));
    if (!changed) {
        return report(changed.error());
    }
    print_json(*changed);
    return ExitCode::Ok;
}

ExitCode change(const Host& host, const ChangeOptions& options) {
    auto is_many = options.has_filter() || options.is_all;
    if (options.runs.empty() != is_many) {
        return report(Error{Errc::InvalidInput, "name the runs, or give a filter, or --all"});
    }
    auto client = options.connection.open(host);
    if (!client) {
        return report(client.error());
    }
    return is_many ? change_many(*client, options) : change_each(*client, options);
}

Command change_command(const Host& host, const std::string& name, const std::string& help,
                       bool may_be_many) {
    auto options = std::make_shared<ChangeOptions>(ChangeOptions{.change = name});
    auto command = Command{.name = name,
                           .help = help,
                           .words = {{.name = "RUN",
                                      .target = &options->runs,
                                      .help = "The run, or several",
                                      .is_required = !may_be_many,
                                      .completes = Completes::Run}},
                           .run = [&host, options] { return change(host, *options); }};
    if (may_be_many) {
        options->many.add_filter_to(command);
        command.words.push_back(
            {.name = "--all", .target = &options->is_all, .help = "All runs, whichever they are"});
        command.words.push_back({.name = "--dry-run",
                                 .target = &options->is_tried,
                                 .help = "Tell which runs these are, and do nothing"});
    }
    if (name == "cancel" || name == "terminate") {
        command.words.push_back({.name = "--reason",
                                 .target = &options->reason,
                                 .help = "What its error says",
                                 .value = "TEXT"});
    }
    if (name == "retry") {
        command.words.push_back({.name = "--task",
                                 .target = &options->task,
                                 .help = "Begin again with this task and those behind it; in an "
                                         "item of a map such as tiles/17/load",
                                 .value = "TASK"});
        command.words.push_back({.name = "--input",
                                 .target = &options->input,
                                 .help = "Of that task, instead of what its definition says: "
                                         "JSON, or @FILE",
                                 .value = "JSON"});
        command.words.push_back({.name = "--as",
                                 .target = &options->id,
                                 .help = "Of a run that has succeeded: the id of the new run that "
                                         "goes on from there",
                                 .value = "ID"});
    }
    command.words.push_back(json_word(options->is_json, "As JSON, one line each"));
    options->connection.add_to(command);
    return command;
}

} // namespace

std::vector<Command> change_commands(const Host& host) {
    return {change_command(host, "cancel", "Ask a run to end; its definition may clear up", true),
            change_command(host, "terminate", "End a run at once", true),
            change_command(host, "pause", "Let a run decide nothing until it is resumed", false),
            change_command(host, "resume", "Let a paused run go on", false),
            change_command(host, "retry", "Let a run that failed go on, or begin again from a task",
                           true)};
}

} // namespace sluice::cli
