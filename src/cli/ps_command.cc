#include <memory>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/internal/run_list.h"
#include "cli/output.h"

namespace sluice::cli {

namespace {

struct PsOptions {
    Connection connection;
    RunListOptions list;
    bool is_json = false;
};

ExitCode ps(const Host& host, const PsOptions& options) {
    auto client = options.connection.open(host);
    return client ? list_runs(*client, options.list, options.is_json) : report(client.error());
}

} // namespace

Command ps_command(const Host& host) {
    auto options = std::make_shared<PsOptions>();
    auto command = Command{.name = "ps",
                           .help = "List runs, those that started last first",
                           .run = [&host, options] { return ps(host, *options); }};
    options->list.add_to(command);
    command.words.push_back(
        {.name = "--all", .target = &options->list.is_all, .help = "All of them"});
    command.words.push_back({.name = "--standing",
                             .target = &options->list.filter.is_standing,
                             .help = "Runs that others share, such as definition/NAME"});
    command.words.push_back(json_word(options->is_json, "As JSON"));
    options->connection.add_with_data_to(command);
    return command;
}

} // namespace sluice::cli
