#include <memory>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/internal/explanation_text.h"
#include "cli/output.h"

namespace sluice::cli {

namespace {

struct WhyOptions {
    Connection connection;
    std::string run;
    std::string event;
    std::string trigger;
    bool is_json = false;
};

ExitCode why(const Host& host, const WhyOptions& options) {
    auto client = options.connection.open(host);
    if (!client) {
        return report(client.error());
    }
    auto query = client::Query{};
    if (!options.event.empty()) {
        query.emplace_back("event", options.event);
    } else if (!options.trigger.empty()) {
        query.emplace_back("trigger", options.trigger);
    }
    auto explained = client->get(client::path_of({"v1", "runs", options.run, "why"}), query);
    if (!explained) {
        // What is missing may also be the event.
        return query.empty() ? report(*client, explained.error(), options.run)
                             : report(explained.error());
    }
    if (options.is_json) {
        print_json(*explained);
    } else {
        print_explanation(*explained);
    }
    return ExitCode::Ok;
}

} // namespace

Command why_command(const Host& host) {
    auto options = std::make_shared<WhyOptions>();
    auto command = Command{.name = "why",
                           .help = "Explain what happened to an event, or where a run stands",
                           .words = {run_word(options->run),
                                     {.name = "EVENT",
                                      .target = &options->event,
                                      .help = "An event by its id or number (#12)"},
                                     {.name = "--trigger",
                                      .target = &options->trigger,
                                      .help = "Why this trigger has fired, or has not",
                                      .value = "ID"},
                                     json_word(options->is_json, "As JSON")},
                           .run = [&host, options] { return why(host, *options); }};
    options->connection.add_with_data_to(command);
    return command;
}

} // namespace sluice::cli
