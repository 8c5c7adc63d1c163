#include <csignal>
#include <functional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "sluice/bench.h"
#include "sluice/completion_command.h"
#include "sluice/exit_code.h"
#include "sluice/inspect/replay_command.h"
#include "sluice/inspect/show_command.h"
#include "sluice/inspect/why_command.h"
#include "sluice/run/delete_command.h"
#include "sluice/run/fork_command.h"
#include "sluice/run/reopen_command.h"
#include "sluice/run/run_command.h"
#include "sluice/serve/serve_command.h"
#include "sluice/serve/token_command.h"
#include "sluice/store_command.h"
#include "sluice/validate_command.h"

// The command line, and nothing else: each command has a file of its own.
namespace {

using namespace sluice::app; // NOLINT(google-build-using-namespace): all of it is wired here.

const auto durabilities = CLI::IsMember({"strict", "relaxed", "memory"});

struct Options {
    RunOptions run;
    ForkOptions fork;
    DeleteOptions remove;
    ValidateOptions validate;
    ShowOptions show;
    WhyOptions why;
    ReplayOptions replay;
    ReopenOptions reopen;
    ServeOptions serve;
    TokenOptions token;
    StoreOptions store;
    BenchOptions bench;
    std::string shell;
};

/// What the command that was given does.
using Chosen = std::function<ExitCode()>;

CLI::Option* add_data(CLI::App& command, std::string& data) {
    return command.add_option("--data", data, "The data directory")->type_name("DIR")->required();
}

/// How a run goes on, wherever it comes from.
void add_execution(CLI::App& command, RunOptions& options) {
    command.add_option("--functions", options.functions, "A file that declares further functions");
    command.add_option("--events", options.events,
                       "CloudEvents for it, one a line; - is standard input");
    command.add_option("--threads", options.threads, "Threads that decide")
        ->check(CLI::Range(1, 64));
    command.add_flag("--json", options.is_json, "Progress as JSON lines on standard error");
    command.add_flag("--quiet", options.is_quiet, "No progress");
    command.add_flag("--keep-going", options.keeps_going,
                     "Bad lines of --events do not fail the command");
}

void add_run(CLI::App& program, RunOptions& options, Chosen& chosen) {
    auto& command = *program.add_subcommand("run", "Run a definition here and now, to its end");
    command.add_option("FILE", options.file, "The definition, YAML or JSON; - is standard input")
        ->required();
    command.add_option("--input", options.input, "The run's input: JSON, or @FILE");
    command.add_option("--data", options.data, "Keep the run here; an interrupted one continues");
    command.add_option("--run", options.run, "Its id; otherwise made from definition and input");
    command.add_option("--label", options.labels, "A label of the run, key=value; may be repeated")
        ->allow_extra_args(false);
    command.add_option("--durability", options.durability, "strict, relaxed or memory")
        ->check(durabilities);
    add_execution(command, options);
    command.callback([&] { chosen = [&] { return run(options); }; });
}

void add_fork(CLI::App& program, ForkOptions& options, Chosen& chosen) {
    auto& command = *program.add_subcommand(
        "fork", "Begin a run as another was at one of its events, and run it to its end");
    command.add_option("RUN", options.from, "The run; it stays as it is")->required();
    command.add_option("--at", options.at, "The event after which the new run begins")->required();
    command.add_option("--id", options.run.run, "Of the new run; otherwise RUN-EVENT");
    add_data(command, options.run.data);
    add_execution(command, options.run);
    command.callback([&] { chosen = [&] { return fork(options); }; });
}

void add_delete(CLI::App& program, DeleteOptions& options, Chosen& chosen) {
    auto& command = *program.add_subcommand(
        "delete", "Remove a run and those it started, and what they held from the files");
    command.add_option("RUN", options.run, "The run")->required();
    add_data(command, options.data);
    command.add_flag("--force", options.is_forced, "Terminate it first if it is running");
    command.add_flag("--json", options.is_json, "As JSON");
    command.callback([&] { chosen = [&] { return delete_run(options); }; });
}

void add_validate(CLI::App& program, ValidateOptions& options, Chosen& chosen) {
    auto& command =
        *program.add_subcommand("validate", "Check definitions; all errors with line and column");
    command.add_option("FILE", options.files, "Definitions, YAML or JSON")->required();
    command.add_flag("--json", options.is_json, "The findings as JSON on standard output");
    command.callback([&] { chosen = [&] { return validate(options); }; });
}

void add_show(CLI::App& program, ShowOptions& options, Chosen& chosen) {
    auto& command =
        *program.add_subcommand("show", "Show the runs of a data directory, or one of them");
    command.add_option("RUN", options.run, "A run; otherwise all of them are listed");
    add_data(command, options.data);
    auto* sections =
        command.add_option_group("sections", "One part of the run instead of its summary");
    sections->require_option(0, 1);
    for (const auto& [flag, section, help] :
         {std::tuple{"--triggers", Section::Triggers, "Its triggers and how far they are"},
          {"--contexts", Section::Contexts, "What it and its scopes remember"},
          {"--history", Section::History, "Every event, and what followed from it"},
          {"--events", Section::Events, "Every event and its fate"},
          {"--timers", Section::Timers, "Timers that are set"},
          {"--tasks", Section::Tasks, "Tasks that are open"}}) {
        sections->add_flag_callback(flag, [&options, section] { options.section = section; }, help);
    }
    command.add_flag("--quarantine", options.is_quarantine,
                     "List events of sources that no run was there for");
    command.add_option("--status", options.status, "List runs with this status")
        ->check(CLI::IsMember({"running", "succeeded", "failed", "cancelled", "timed out"}));
    command.add_option("--definition", options.definition, "List runs of this definition");
    command.add_option("--label", options.label, "List runs with this label, key=value");
    command.add_option("--since", options.since,
                       "List runs that started then or later: a time, or a duration before now");
    command.add_option("--until", options.until, "List runs that started before then");
    command.add_option("--ended-since", options.ended_since, "The same of their end");
    command.add_option("--ended-until", options.ended_until, "The same of their end");
    command.add_option("--cursor", options.cursor, "Where the page before ended");
    command.add_option("--limit", options.limit, "Runs or events, at most")
        ->check(CLI::PositiveNumber);
    command.add_flag("--json", options.is_json, "As JSON; histories as JSON lines");
    command.callback([&] { chosen = [&] { return show(options); }; });
}

void add_why(CLI::App& program, WhyOptions& options, Chosen& chosen) {
    auto& command =
        *program.add_subcommand("why", "Explain what happened to an event, or where a run stands");
    command.add_option("RUN", options.run, "The run")->required();
    command.add_option("EVENT", options.event, "An event by its id or number (#12)");
    add_data(command, options.data);
    command.add_flag("--json", options.is_json, "As JSON");
    command.callback([&] { chosen = [&] { return why(options); }; });
}

void add_replay(CLI::App& program, ReplayOptions& options, Chosen& chosen) {
    auto& command = *program.add_subcommand("replay", "Decide a run's history again and compare");
    command.add_option("RUN", options.run, "The run")->required();
    add_data(command, options.data);
    command.add_option("--from", options.from,
                       "Begin at the last checkpoint at or before this event");
    command.add_option("--at", options.at, "Print the state right after this event instead");
    command.add_flag("--json", options.is_json, "As JSON");
    command.callback([&] { chosen = [&] { return replay(options); }; });
}

void add_serve(CLI::App& program, ServeOptions& options, Chosen& chosen) {
    auto& command = *program.add_subcommand("serve", "Serve events and runs over HTTP");
    add_serve_options(command, options);
    command.callback([&] { chosen = [&] { return serve(options); }; });
}

void add_token(CLI::App& program, TokenOptions& options, Chosen& chosen) {
    auto& command = *program.add_subcommand("token", "Make tokens for a server");
    command.require_subcommand(1);
    auto& create = *command.add_subcommand(
        "create", "Make a token, in the data of a server that does not run or for a configuration");
    create.add_option("--data", options.data, "The data directory; otherwise for a configuration")
        ->type_name("DIR");
    create.add_option("--name", options.name, "What it is called in lists and in the audit")
        ->required();
    create.add_option("--role", options.role, "reader, operator or admin")
        ->required()
        ->check(CLI::IsMember({"reader", "operator", "admin"}));
    create.add_option("--namespace", options.space, "The only one it may use; otherwise all");
    create.add_option("--expires", options.expires, "A time, or a duration from now; never");
    create.add_flag("--json", options.is_json, "As JSON");
    create.callback([&] { chosen = [&] { return create_token(options); }; });
}

void add_reopen(CLI::App& program, ReopenOptions& options, Chosen& chosen) {
    auto& command = *program.add_subcommand("reopen", "Let a run that ended without success go on");
    command.add_option("RUN", options.run, "The run")->required();
    add_data(command, options.data);
    command.add_flag("--json", options.is_json, "As JSON");
    command.callback([&] { chosen = [&] { return reopen(options); }; });
}

void add_store(CLI::App& program, StoreOptions& options, Chosen& chosen) {
    auto& command = *program.add_subcommand("store", "Look after a data directory");
    command.require_subcommand(1);
    auto& check = *command.add_subcommand("check", "Hold every file against its checksums");
    add_data(check, options.data);
    check.add_flag("--json", options.is_json, "As JSON");
    check.callback([&] { chosen = [&] { return check_store(options); }; });
    auto& exported = *command.add_subcommand("export", "Print every key and value as JSON lines");
    add_data(exported, options.data);
    exported.callback([&] { chosen = [&] { return export_store(options); }; });
}

void add_bench(CLI::App& program, BenchOptions& options, Chosen& chosen) {
    auto& command =
        *program.add_subcommand("bench", "Run a standard workload and print its figures");
    command.add_option("WORKLOAD", options.workload, "noop, join, sequence, parallel or waiting")
        ->required()
        ->check(CLI::IsMember({"noop", "join", "sequence", "parallel", "waiting"}));
    command.add_option("--events", options.events, "Events to send");
    command.add_option("--event-bytes", options.event_bytes, "Bytes of an event");
    command.add_option("--triggers", options.triggers, "Triggers in the run");
    command.add_option("--matching", options.matching, "Triggers that match, chosen at random");
    command.add_option("--length", options.length, "Steps of the sequence");
    command.add_option("--width", options.width, "Tasks side by side");
    command.add_option("--runs", options.runs, "Runs that wait");
    command.add_option("--durability", options.durability, "strict, relaxed or memory")
        ->check(durabilities);
    command.add_option("--threads", options.threads, "Threads that decide")
        ->check(CLI::Range(1, 64));
    command.add_option("--repetitions", options.repetitions, "How often it is measured");
    command.add_option("--pairs", options.pairs, "Pairs of noop and join in turn, to compare them");
    command.add_option("--data", options.data,
                       "Where to write; otherwise a folder that is removed");
    command.add_flag("--json", options.json, "The figures as one JSON object");
    command.callback([&] { chosen = [&] { return static_cast<ExitCode>(bench(options)); }; });
}

void add_completion(CLI::App& program, std::string& shell, Chosen& chosen) {
    auto& command = *program.add_subcommand("completion", "Print a completion script");
    command.add_option("SHELL", shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    command.callback([&] { chosen = [&] { return print_completion(shell); }; });
}

} // namespace

int main(int argc, char** argv) {
    // Both are told as errors of the write: nobody reads any more, or the file may not grow.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    auto options = Options{};
    auto chosen = Chosen{};
    auto program = CLI::App{"Sluice runs workflows made of events and triggers.", "sluice"};
    program.set_version_flag("--version", SLUICE_VERSION);
    program.require_subcommand(1);
    program.footer(
        "Exit codes: 0 ok, 1 failed, 2 invalid, 3 not found, 4 data directory in use or damaged, "
        "5 waiting for events, 130 interrupted.");
    add_run(program, options.run, chosen);
    add_fork(program, options.fork, chosen);
    add_delete(program, options.remove, chosen);
    add_validate(program, options.validate, chosen);
    add_show(program, options.show, chosen);
    add_why(program, options.why, chosen);
    add_replay(program, options.replay, chosen);
    add_reopen(program, options.reopen, chosen);
    add_serve(program, options.serve, chosen);
    add_token(program, options.token, chosen);
    add_store(program, options.store, chosen);
    add_bench(program, options.bench, chosen);
    add_completion(program, options.shell, chosen);
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return program.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::Invalid);
    }
    return static_cast<int>(chosen());
}
