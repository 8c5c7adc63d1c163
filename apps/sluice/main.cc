#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sluice/exit_code.h"
#include "sluice/run_command.h"

namespace {

using sluice::app::ExitCode;

CLI::App& add_run(CLI::App& program, sluice::app::RunOptions& options) {
    auto& command = *program.add_subcommand("run", "Run a definition here and now, to its end");
    command.add_option("FILE", options.file, "The definition, YAML or JSON; - reads it from standard input")->required();
    command.add_option("--input", options.input, "The run's input: JSON, or @FILE");
    command.add_option("--functions", options.functions, "A file that declares further functions");
    command.add_option("--data", options.data, "Keep the run here; an interrupted one continues");
    command.add_option("--run", options.run, "The run's id; otherwise from definition and input");
    command.add_option("--events", options.events, "Send it these CloudEvents, one a line; - reads standard input");
    command.add_option("--durability", options.durability, "When a commit counts: strict, relaxed or memory")
        ->check(CLI::IsMember({"strict", "relaxed", "memory"}));
    command.add_option("--threads", options.threads, "Threads that decide")->check(CLI::Range(1, 64));
    command.add_flag("--json", options.is_json, "Progress as JSON lines on standard error");
    command.add_flag("--quiet", options.is_quiet, "No progress");
    command.add_flag("--keep-going", options.keeps_going, "Lines of --events that are no events do not count");
    return command;
}

} // namespace

int main(int argc, char** argv) {
    auto program = CLI::App{"Sluice runs workflows made of events and triggers.", "sluice"};
    auto run_options = sluice::app::RunOptions{};
    auto& run = add_run(program, run_options);
    program.set_version_flag("--version", SLUICE_VERSION);
    program.require_subcommand(1);
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return program.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::Invalid);
    }
    if (run.parsed()) {
        return static_cast<int>(sluice::app::run(run_options));
    }
    return 0;
}
