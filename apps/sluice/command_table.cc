#include "sluice/command_table.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/connection.h"
#include "cli/output.h"
#include "cli/server_actions.h"
#include "server/configuration.h"
#include "sluice/bench/bench.h"
#include "sluice/data_word.h"
#include "sluice/eval/eval_command.h"
#include "sluice/eval/expression_case.h"
#include "sluice/graph/graph_row.h"
#include "sluice/restore_command.h"
#include "sluice/run/delete_command.h"
#include "sluice/run/fork_command.h"
#include "sluice/run/reopen_command.h"
#include "sluice/run/run_command.h"
#include "sluice/serve/serve_command.h"
#include "sluice/store_command.h"
#include "sluice/task_rows.h"
#include "sluice/test/test_row.h"
#include "sluice/validate_command.h"

namespace sluice::app {

namespace {

using cli::Command;
using cli::Completes;
using cli::Host;
using cli::json_word;
using cli::run_word;
using cli::Word;

const auto durabilities = std::vector<std::string>{"strict", "relaxed", "memory"};

Word required(Word word) {
    word.is_required = true;
    return word;
}

Word threads_word(std::uint32_t& threads) {
    return {.name = "--threads",
            .target = &threads,
            .help = "Threads that decide",
            .value = "N",
            .least = 1,
            .most = 64};
}

Word durability_word(std::string& durability) {
    return {.name = "--durability",
            .target = &durability,
            .help = "When a commit counts as done",
            .choices = durabilities};
}

/// How a run goes on, wherever it comes from.
void add_execution(Command& command, RunOptions& options) {
    auto words =
        std::vector<Word>{{.name = "--functions",
                           .target = &options.functions,
                           .help = "A file that declares further functions, or simulate",
                           .value = "FILE",
                           .completes = Completes::File},
                          {.name = "--time-scale",
                           .target = &options.time_scale,
                           .help = "Simulated functions take so many times their time",
                           .value = "NUMBER"},
                          {.name = "--slots",
                           .target = &options.slots,
                           .help = "So many simulated calls at a time; otherwise any number",
                           .value = "N",
                           .least = 1,
                           .most = 1'000'000},
                          {.name = "--events",
                           .target = &options.events,
                           .help = "CloudEvents for it, one a line; - is standard input",
                           .value = "FILE",
                           .completes = Completes::File},
                          threads_word(options.threads),
                          json_word(options.is_json, "Progress as JSON lines on standard error"),
                          {.name = "--quiet", .target = &options.is_quiet, .help = "No progress"},
                          {.name = "--keep-going",
                           .target = &options.keeps_going,
                           .help = "Bad lines of --events do not fail the command"}};
    command.words.insert(command.words.end(), words.begin(), words.end());
}

Command run_row() {
    auto options = std::make_shared<RunOptions>();
    auto command = Command{
        .name = "run",
        .help = "Run a definition here and now, to its end",
        .words = {{.name = "FILE",
                   .target = &options->file,
                   .help = "The definition, YAML or JSON; - is standard input",
                   .is_required = true,
                   .completes = Completes::File},
                  {.name = "--input",
                   .target = &options->input,
                   .help = "The run's input: JSON, or @FILE",
                   .value = "JSON"},
                  data_word(options->data, "Keep the run here; an interrupted one continues"),
                  {.name = "--run",
                   .target = &options->run,
                   .help = "Its id; otherwise made from definition and input",
                   .value = "ID"},
                  {.name = "--label",
                   .target = &options->labels,
                   .help = "A label of the run; may be repeated",
                   .value = "KEY=VALUE"},
                  durability_word(options->durability),
                  {.name = "--mocks",
                   .target = &options->mocks,
                   .help = "What the tasks of a state machine answer: JSON, or @FILE",
                   .value = "JSON"},
                  {.name = "--objects",
                   .target = &options->objects,
                   .help = "What its object store holds: JSON, or @FILE",
                   .value = "JSON"},
                  {.name = "--skip-waits",
                   .target = &options->skips_waits,
                   .help = "Run a state machine on virtual time: a month passes at once"},
                  {.name = "--stop-after",
                   .target = &options->stop_after,
                   .help = "Stop a state machine that is tried when this time has passed",
                   .value = "DURATION"},
                  {.name = "--batch",
                   .target = &options->is_batch,
                   .help = "FILE has a trial of a state machine on each line, as JSON"},
                  {.name = "--express",
                   .target = &options->is_express,
                   .help = "Run a state machine as an express one"},
                  {.name = "--history",
                   .target = &options->has_history,
                   .help = "Print the execution history of a state machine too"}},
        .run = [options] { return run(*options); }};
    add_execution(command, *options);
    return command;
}

Command fork_row(const Host& host) {
    auto options = std::make_shared<ForkOptions>();
    auto connection = std::make_shared<cli::Connection>();
    auto command = Command{
        .name = "fork",
        .help = "Begin a run as another was at one of its events",
        .words = {run_word(options->from, "The run; it stays as it is"),
                  {.name = "--at",
                   .target = &options->at,
                   .help = "The event after which the new run begins",
                   .value = "EVENT",
                   .is_required = true},
                  {.name = "--id",
                   .target = &options->run.run,
                   .help = "Of the new run; otherwise one is made",
                   .value = "ID"},
                  data_word(options->run.data,
                            "A data directory: the new run is run here, to its end")},
        .run = [&host, options, connection] {
            return options->run.data.empty()
                       ? fork_on_server(
                             host, *connection,
                             {.run = options->from, .at = options->at, .id = options->run.run},
                             options->run.is_json)
                       : fork(*options);
        }};
    add_execution(command, options->run);
    connection->add_to(command);
    return command;
}

Command delete_row(const Host& host) {
    auto options = std::make_shared<DeleteOptions>();
    auto connection = std::make_shared<cli::Connection>();
    auto command = Command{
        .name = "delete",
        .help = "Remove a run and those it started",
        .words = {run_word(options->run),
                  data_word(options->data, "A data directory: what they held goes from its files"),
                  {.name = "--force",
                   .target = &options->is_forced,
                   .help = "Terminate it first if it is running"},
                  json_word(options->is_json, "As JSON")},
        .run = [&host, options, connection] {
            return options->data.empty()
                       ? delete_on_server(host, *connection, options->run,
                                          options->is_forced ? cli::WhenRunning::Terminate
                                                             : cli::WhenRunning::Refuse,
                                          options->is_json)
                       : delete_run(*options);
        }};
    connection->add_to(command);
    return command;
}

Command reopen_row(const Host& host) {
    auto options = std::make_shared<ReopenOptions>();
    auto connection = std::make_shared<cli::Connection>();
    auto command =
        Command{.name = "reopen",
                .help = "Let a run that ended without success go on",
                .words = {run_word(options->run), data_word(options->data),
                          json_word(options->is_json, "As JSON")},
                .run = [&host, options, connection] {
                    return options->data.empty()
                               ? reopen_on_server(host, *connection, options->run, options->is_json)
                               : reopen(*options);
                }};
    connection->add_to(command);
    return command;
}

Command validate_row() {
    auto options = std::make_shared<ValidateOptions>();
    return {.name = "validate",
            .help = "Check definitions; all errors with line and column",
            .words = {{.name = "FILE",
                       .target = &options->files,
                       .help = "Definitions, YAML or JSON",
                       .is_required = true,
                       .completes = Completes::File},
                      {.name = "--express",
                       .target = &options->is_express,
                       .help = "State machines are to run as express ones"},
                      json_word(options->is_json, "The findings as JSON on standard output")},
            .run = [options] { return validate(*options); }};
}

Command eval_row() {
    auto options = std::make_shared<EvalOptions>();
    return {
        .name = "eval",
        .help = "Try an expression, or thousands of them",
        .words = {{.name = "EXPR", .target = &options->expression, .help = "The expression"},
                  {.name = "--lang",
                   .target = &options->language,
                   .help = "Its language",
                   .choices = language_names(),
                   .is_required = true},
                  {.name = "--input",
                   .target = &options->input,
                   .help = "The document it looks at: JSON, or @FILE",
                   .value = "JSON"},
                  {.name = "--bind",
                   .target = &options->bindings,
                   .help = "A name it may use; may be repeated",
                   .value = "NAME=JSON"},
                  {.name = "--event",
                   .target = &options->event,
                   .help = "The event it looks at: JSON, or @FILE",
                   .value = "JSON"},
                  {.name = "--batch",
                   .target = &options->is_batch,
                   .help = "Cases from standard input, one JSON object a line; answers likewise"},
                  {.name = "--typed",
                   .target = &options->is_typed,
                   .help = "Values with their kinds: {\"int\": \"5\"}"}},
        .run = [options] { return eval(*options); }};
}

/// Of all of it, or of a part.
Command serve_row(Part part) {
    struct Given {
        ServeOptions options;
        std::map<std::string, std::vector<std::string>> texts;    ///< Of an option the last counts.
        std::map<std::string, std::optional<std::string>> truths; ///< Empty: without a value.
    };
    auto given = std::make_shared<Given>();
    given->options.part = part;
    auto command =
        Command{.name = part == Part::Worker    ? "worker"
                        : part == Part::Gateway ? "gateway"
                                                : "serve",
                .help = part == Part::Worker ? "Decide for a share of the shards of a shared store"
                        : part == Part::Gateway ? "Take requests and events for the workers"
                                                : "Serve events and runs over HTTP",
                .words = {{.name = "--config",
                           .target = &given->options.config,
                           .help = "A YAML file with settings",
                           .value = "FILE",
                           .completes = Completes::File}}};
    for (const auto& setting : server::settings()) {
        if (!setting.flag().empty()) {
            auto name = std::string{setting.name};
            auto is_truth = std::holds_alternative<bool server::Configuration::*>(setting.field);
            command.words.push_back(
                {.name = setting.flag(),
                 .target = is_truth ? cli::Target{&given->truths[name]}
                                    : cli::Target{&given->texts[name]},
                 .help = fmt::format("{} [{}]", setting.description,
                                     server::Configured{}.text(setting)),
                 .value = std::string{setting.form},
                 .completes = setting.form == "DIR" ? Completes::Folder : Completes::Nothing});
        }
    }
    command.words.push_back(
        {.name = "--show-config",
         .target = &given->options.shows_config,
         .help = "Print every setting and where it came from, and do nothing else"});
    command.words.push_back(json_word(given->options.is_json, "What it tells or shows, as JSON"));
    command.run = [given] {
        auto options = given->options;
        for (const auto& [name, texts] : given->texts) {
            if (!texts.empty()) {
                options.flags.insert_or_assign(name, texts.back());
            }
        }
        for (const auto& [name, text] : given->truths) {
            if (text) {
                options.flags.insert_or_assign(name, text->empty() ? "true" : *text);
            }
        }
        return serve(std::move(options));
    };
    return command;
}

Command restore_row() {
    auto options = std::make_shared<RestoreOptions>();
    return {.name = "restore",
            .help = "Make a data directory of a backup",
            .words = {{.name = "BACKUP",
                       .target = &options->backup,
                       .help = "The directory that `sluice backup` wrote",
                       .is_required = true,
                       .completes = Completes::Folder},
                      required(data_word(options->data, "Where; it must not exist yet")),
                      json_word(options->is_json, "As JSON")},
            .run = [options] { return restore(*options); }};
}

std::vector<Command> store_rows() {
    auto options = std::make_shared<StoreOptions>();
    return {{.name = "store", .help = "Look after a data directory"},
            {.name = "store check",
             .help = "Hold every file against its checksums",
             .words = {required(data_word(options->data)), json_word(options->is_json, "As JSON")},
             .run = [options] { return check_store(*options); }},
            {.name = "store export",
             .help = "Print every key and value as JSON lines",
             .words = {required(data_word(options->data))},
             .run = [options] { return export_store(*options); }}};
}

Command bench_row() {
    auto options = std::make_shared<BenchOptions>();
    auto count = [](std::string name, auto& target, std::string help) {
        return Word{
            .name = std::move(name), .target = &target, .help = std::move(help), .value = "N"};
    };
    return {
        .name = "bench",
        .help = "Run a standard workload and print its figures",
        .words = {{.name = "WORKLOAD",
                   .target = &options->workload,
                   .help = "Which",
                   .choices = {"noop", "join", "sequence", "parallel", "waiting", "latency", "expr",
                               "asl"},
                   .is_required = true},
                  count("--events", options->events, "Events to send"),
                  count("--event-bytes", options->event_bytes, "Bytes of an event"),
                  count("--triggers", options->triggers, "Triggers in the run"),
                  count("--matching", options->matching, "Triggers that match, chosen at random"),
                  count("--length", options->length, "Steps of the sequence"),
                  count("--width", options->width, "Tasks side by side"),
                  count("--runs", options->runs, "Runs that wait"),
                  durability_word(options->durability),
                  threads_word(options->threads),
                  count("--repetitions", options->repetitions, "How often it is measured"),
                  count("--pairs", options->pairs,
                        "Pairs of noop and join in turn, to compare them"),
                  {.name = "--bus",
                   .target = &options->bus,
                   .help = "By which events come: redis://, kafka://, amqp:// or nats://, with a "
                           "prefix of its own, whose partitions are removed in the end",
                   .value = "URL"},
                  {.name = "--store",
                   .target = &options->store,
                   .help = "Where state is: redis:// or postgres://; otherwise embedded",
                   .value = "URL"},
                  data_word(options->data, "Where to write; otherwise a folder that is removed"),
                  {.name = "--npm",
                   .target = &options->npm,
                   .help = "Where node finds npm's packages, to compare with",
                   .value = "DIR",
                   .completes = Completes::Folder},
                  json_word(options->json, "The figures as one JSON object")},
        .run = [options] { return bench(*options); }};
}

/// Completes every other command, so it comes last.
Command completion_row(const std::vector<Command>& others) {
    auto shell = std::make_shared<std::string>();
    auto command = Command{.name = "completion",
                           .help = "Print a completion script",
                           .words = {{.name = "SHELL",
                                      .target = shell.get(),
                                      .help = "For which",
                                      .choices = {"bash", "zsh", "fish"},
                                      .is_required = true}}};
    auto all = others;
    all.push_back(command);
    all.back().run = [] { return ExitCode::Ok; };
    command.run = [shell, all = std::move(all)] {
        cli::print_line(cli::completion_script(*shell, all));
        return ExitCode::Ok;
    };
    return command;
}

} // namespace

std::vector<Command> command_table(const Host& host) {
    auto table = std::vector<Command>{run_row(),
                                      validate_row(),
                                      test_row(),
                                      eval_row(),
                                      graph_row(host),
                                      serve_row(Part::All),
                                      serve_row(Part::Gateway),
                                      serve_row(Part::Worker)};
    auto add = [&table](std::vector<Command> rows) {
        table.insert(table.end(), rows.begin(), rows.end());
    };
    add({cli::deploy_command(host), cli::start_command(host), cli::backfill_command(host),
         cli::ps_command(host), cli::show_command(host), cli::watch_command(host),
         cli::events_command(host), cli::why_command(host), cli::replay_command(host),
         cli::send_command(host)});
    add(cli::change_commands(host));
    add_data_to_retry(table);
    add_data_to_backfill(table);
    add(task_rows(host));
    add({fork_row(host), reopen_row(host), delete_row(host)});
    add(cli::document_commands(host));
    add(cli::token_commands(host));
    add(cli::profile_commands(host));
    add({cli::backup_command(host), restore_row()});
    add(store_rows());
    add({bench_row()});
    add({completion_row(table)});
    return table;
}

} // namespace sluice::app
