#include <memory>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/internal/event_list.h"
#include "cli/output.h"

namespace sluice::cli {

namespace {

struct EventsOptions {
    Connection connection;
    std::string run;
    std::uint64_t from = 1;
    std::uint64_t limit = 100;
    bool has_changes = false;
    bool is_json = false;
};

ExitCode events(const Host& host, const EventsOptions& options) {
    auto client = options.connection.open(host);
    if (!client) {
        return report(client.error());
    }
    return list_events(*client, options.run, options.from, options.limit,
                       options.has_changes ? Detail::Changes : Detail::Event, options.is_json);
}

} // namespace

Command events_command(const Host& host) {
    auto options = std::make_shared<EventsOptions>();
    auto command = Command{.name = "events",
                           .help = "List a run's events and what became of them",
                           .words = {run_word(options->run),
                                     {.name = "--from",
                                      .target = &options->from,
                                      .help = "The first of them, by its number",
                                      .value = "EVENT",
                                      .least = 1},
                                     {.name = "--limit",
                                      .target = &options->limit,
                                      .help = "At most so many",
                                      .value = "N",
                                      .least = 1},
                                     {.name = "--changes",
                                      .target = &options->has_changes,
                                      .help = "And what each did"},
                                     json_word(options->is_json, "As JSON, one line each")},
                           .run = [&host, options] { return events(host, *options); }};
    options->connection.add_to(command);
    return command;
}

} // namespace sluice::cli
