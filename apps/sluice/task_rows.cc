#include "sluice/task_rows.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "cli/connection.h"
#include "cli/output.h"
#include "cli/server_actions.h"
#include "sluice/data_word.h"
#include "sluice/run/backfill_run.h"
#include "sluice/run/task_command.h"

namespace sluice::app {

namespace {

using cli::Command;
using cli::Host;
using cli::json_word;
using cli::run_word;
using cli::Word;

constexpr auto told_there = "A data directory: the run is told there";

/// Of a server, or of a data directory.
ExitCode tell_task_somewhere(const Host& host, const TaskOptions& options,
                             const cli::Connection& connection) {
    if (!options.data.empty()) {
        return tell_task(options);
    }
    auto body = options.body();
    return body ? cli::tell_task_on_server(host, connection, options.run, options.verb, *body,
                                           options.is_json)
                : cli::report(body.error());
}

Word task_word(TaskOptions& options) {
    return {.name = "--task",
            .target = &options.task,
            .help = "Its name; in an item of a map such as tiles/17/load",
            .value = "TASK",
            .is_required = true};
}

Command task_row(const Host& host, const std::string& verb, const std::string& help,
                 std::vector<Word> (*more)(TaskOptions&)) {
    auto options = std::make_shared<TaskOptions>(TaskOptions{.verb = verb});
    auto connection = std::make_shared<cli::Connection>();
    auto command = Command{
        .name = verb,
        .help = help,
        .words = {run_word(options->run), task_word(*options), data_word(options->data, told_there),
                  json_word(options->is_json, "As JSON")},
        .run = [&host, options, connection] {
            return tell_task_somewhere(host, *options, *connection);
        }};
    for (auto& word : more(*options)) {
        command.words.push_back(std::move(word));
    }
    connection->add_to(command);
    return command;
}

} // namespace

std::vector<Command> task_rows(const Host& host) {
    auto none = [](TaskOptions&) { return std::vector<Word>{}; };
    auto result = [](TaskOptions& options) {
        return std::vector<Word>{{.name = "--result",
                                  .target = &options.result,
                                  .help = "What it is to have given: JSON, or @FILE",
                                  .value = "JSON",
                                  .is_required = true}};
    };
    auto approval = [](TaskOptions& options) {
        return std::vector<Word>{
            {.name = "--form",
             .target = &options.form,
             .help = "What it asks for: JSON, or @FILE",
             .value = "JSON"},
            {.name = "--by", .target = &options.by, .help = "Who says so", .value = "NAME"},
            {.name = "--reject", .target = &options.is_rejected, .help = "Say no"},
            {.name = "--reason", .target = &options.reason, .help = "Why not", .value = "TEXT"}};
    };
    return {task_row(host, "skip", "Let a task that waits or was halted count as skipped", none),
            task_row(host, "set-result", "Let a task have given this result", result),
            task_row(host, "approve", "Answer a task that waits for a person", approval)};
}

void add_data_to_retry(std::vector<Command>& commands) {
    auto retry = std::ranges::find(commands, "retry", &Command::name);
    auto target_of = [&](std::string_view name) {
        return std::ranges::find(retry->words, name, &Word::name)->target;
    };
    auto* task = std::get<std::string*>(target_of("--task"));
    auto* input = std::get<std::string*>(target_of("--input"));
    auto* id = std::get<std::string*>(target_of("--as"));
    auto* is_json = std::get<bool*>(target_of("--json"));
    auto options = std::make_shared<TaskOptions>(TaskOptions{.verb = "retry"});
    auto* runs = std::get<std::vector<std::string>*>(retry->words.front().target);
    retry->run = [options, runs, task, input, id, is_json, on_server = retry->run] {
        if (options->data.empty()) {
            return on_server();
        }
        if (runs->size() != 1) {
            return cli::report(
                Error{Errc::InvalidInput, "with --data one run is told at a time: name it"});
        }
        options->run = runs->front();
        options->task = *task;
        options->input = *input;
        options->id = *id;
        options->is_json = *is_json;
        return tell_task(*options);
    };
    retry->words.push_back(data_word(options->data, told_there));
}

void add_data_to_backfill(std::vector<Command>& commands) {
    auto backfill = std::ranges::find(commands, "backfill", &Command::name);
    auto target_of = [&](std::string_view name) {
        return std::ranges::find(backfill->words, name, &Word::name)->target;
    };
    auto text_of = [&](std::string_view name) { return std::get<std::string*>(target_of(name)); };
    auto options = std::make_shared<BackfillOptions>();
    backfill->run = [options, on_server = backfill->run, file = text_of("DEFINITION"),
                     from = text_of("--from"), to = text_of("--to"), every = text_of("--every"),
                     zone = text_of("--zone"), input = text_of("--input"),
                     limit = std::get<std::uint64_t*>(target_of("--limit")),
                     is_dry_run = std::get<bool*>(target_of("--dry-run")),
                     is_json = std::get<bool*>(target_of("--json"))] {
        if (options->data.empty()) {
            return on_server();
        }
        options->file = *file;
        options->from = *from;
        options->to = *to;
        options->every = *every;
        options->zone = *zone;
        options->input = *input;
        options->limit = *limit;
        options->is_dry_run = *is_dry_run;
        options->is_json = *is_json;
        return run_backfill(*options);
    };
    backfill->words.push_back(
        data_word(options->data, "Run it there, without a server: DEFINITION is a file then"));
    backfill->words.push_back({.name = "--functions",
                               .target = &options->functions,
                               .help = "With --data: a file that declares more functions",
                               .value = "FILE",
                               .completes = cli::Completes::File});
}

} // namespace sluice::app
