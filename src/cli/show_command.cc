#include <memory>
#include <tuple>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/internal/event_list.h"
#include "cli/internal/run_list.h"
#include "cli/internal/run_summary.h"
#include "cli/output.h"
#include "value/json.h"

namespace sluice::cli {

namespace {

enum class Section : std::uint8_t { Summary, Triggers, Contexts, History, Events, Timers, Tasks };

struct ShowOptions {
    Connection connection;
    std::string run; ///< Empty: lists runs, of a data directory.
    Section section = Section::Summary;
    bool is_quarantine = false;
    RunListOptions list;
    bool is_json = false;
};

ExitCode show_summary(client::Client& client, const ShowOptions& options) {
    auto state = client.get(client::path_of({"v1", "runs", options.run, "state"}));
    if (!state) {
        return report(client, state.error(), options.run);
    }
    if (options.is_json) {
        print_json(*state);
    } else {
        print_summary(*state);
    }
    return ExitCode::Ok;
}

/// One member of the run's state.
ExitCode show_part(client::Client& client, const ShowOptions& options, std::string_view member) {
    auto state = client.get(client::path_of({"v1", "runs", options.run, "state"}));
    if (!state) {
        return report(client, state.error(), options.run);
    }
    const auto* part = state->find(member);
    if (options.is_json) {
        print_json(part == nullptr ? Value{} : *part);
    } else {
        print_line(value::to_pretty_json(part == nullptr ? Value{} : *part));
    }
    return ExitCode::Ok;
}

ExitCode show_triggers(client::Client& client, const ShowOptions& options) {
    auto answer = client.get(client::path_of({"v1", "runs", options.run, "triggers"}));
    if (!answer) {
        return report(client, answer.error(), options.run);
    }
    const auto* triggers = answer->find("triggers");
    if (options.is_json) {
        print_json(triggers == nullptr ? Value{} : *triggers);
        return ExitCode::Ok;
    }
    auto table = Table{{"TRIGGER", "SCOPE", "STATE", "PROGRESS", "FIRED", "ON"}};
    const auto* rows = answer->find("rows");
    for (const auto& row : rows == nullptr ? std::span<const Value>{} : rows->as_list()) {
        table.add({text_at(row, "trigger"), text_at(row, "scope"), text_at(row, "state"),
                   text_at(row, "progress"), text_at(row, "fired"), text_at(row, "on")});
    }
    table.print();
    return ExitCode::Ok;
}

ExitCode show_quarantine(client::Client& client, const ShowOptions& options) {
    auto answer = client.get(
        "/v1/quarantine",
        {{"limit", fmt::format("{}", std::min<std::uint64_t>(options.list.limit, 1'000))}});
    if (!answer) {
        return report(answer.error());
    }
    const auto* events = answer->find("events");
    if (options.is_json) {
        print_json(events == nullptr ? Value{} : *events);
        return ExitCode::Ok;
    }
    auto table = Table{{"SINCE", "RUN", "SOURCE", "NUMBER", "REASON", "EVENT"}};
    for (const auto& each : events == nullptr ? std::span<const Value>{} : events->as_list()) {
        const auto* event = each.find("event");
        table.add({text_at(each, "since"), text_at(each, "run"), text_at(each, "source"),
                   text_at(each, "number"), text_at(each, "reason"),
                   event == nullptr ? "" : brief(*event)});
    }
    table.print();
    return ExitCode::Ok;
}

ExitCode show_run(client::Client& client, const ShowOptions& options) {
    switch (options.section) {
        case Section::Summary: return show_summary(client, options);
        case Section::Triggers: return show_triggers(client, options);
        case Section::Contexts: return show_part(client, options, "contexts");
        case Section::Timers: return show_part(client, options, "timers");
        case Section::Tasks: return show_part(client, options, "tasks");
        case Section::History:
        case Section::Events: break;
    }
    return list_events(client, options.run, 1, options.list.limit,
                       options.section == Section::History ? Detail::Changes : Detail::Event,
                       options.is_json);
}

ExitCode show(const Host& host, const ShowOptions& options) {
    auto is_list = options.run.empty() && !options.is_quarantine;
    if (is_list && options.connection.data.empty()) {
        return report(Error{Errc::InvalidInput,
                            "name a run; `sluice ps` lists those of a server, and `sluice show "
                            "--data DIR` those of a data directory"});
    }
    auto client = options.connection.open(host);
    if (!client) {
        return report(client.error());
    }
    if (options.is_quarantine) {
        return show_quarantine(*client, options);
    }
    return is_list ? list_runs(*client, options.list, options.is_json) : show_run(*client, options);
}

} // namespace

Command show_command(const Host& host) {
    auto options = std::make_shared<ShowOptions>();
    auto command = Command{.name = "show",
                           .help = "Show a run, or the runs of a data directory",
                           .words = {{.name = "RUN",
                                      .target = &options->run,
                                      .help = "A run; otherwise all of a directory are listed",
                                      .completes = Completes::Run}},
                           .run = [&host, options] { return show(host, *options); }};
    for (const auto& [flag, section, help] :
         {std::tuple{"--triggers", Section::Triggers, "Its triggers and how far they are"},
          {"--contexts", Section::Contexts, "What it and its scopes remember"},
          {"--history", Section::History, "Every event, and what followed from it"},
          {"--events", Section::Events, "Every event and its fate"},
          {"--timers", Section::Timers, "Timers that are set"},
          {"--tasks", Section::Tasks, "Tasks that are open"}}) {
        command.words.push_back(
            {.name = flag,
             .target = [chosen = options.get(), part = section] { chosen->section = part; },
             .help = help,
             .group = "section"});
    }
    command.words.push_back({.name = "--quarantine",
                             .target = &options->is_quarantine,
                             .help = "List events of sources that no run was there for"});
    options->list.add_to(command);
    command.words.push_back(json_word(options->is_json, "As JSON; histories as JSON lines"));
    options->connection.add_with_data_to(command);
    return command;
}

} // namespace sluice::cli
