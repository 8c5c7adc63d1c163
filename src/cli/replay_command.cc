#include <memory>
#include <optional>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/output.h"

namespace sluice::cli {

namespace {

struct ReplayOptions {
    Connection connection;
    std::string run;
    std::optional<std::uint64_t> at;
    std::uint64_t from = 0;
    bool is_json = false;
};

void print_report(const Value& report) {
    auto from = text_at(report, "from");
    auto since = from.empty() || from == "0"
                     ? std::string{}
                     : fmt::format(", from the checkpoint at event {} on", from);
    const auto* same = report.find("same");
    if (same != nullptr && *same == Value{true}) {
        print("{} events decided again{}: all the same", text_at(report, "events"), since);
        return;
    }
    const auto* first = report.find("first");
    for (const auto& each : first == nullptr ? std::span<const Value>{} : first->as_list()) {
        print("event #{}: {}", text_at(each, "event"), text_at(each, "what"));
    }
    const auto* is_ours = report.find("is_same_software");
    print("{} events decided again{}: {} differ{}", text_at(report, "events"), since,
          text_at(report, "differences"),
          is_ours == nullptr || *is_ours == Value{true}
              ? ""
              : ", which another release recorded: changes, not damage");
}

ExitCode show_past(client::Client& client, const ReplayOptions& options) {
    auto state = client.get(client::path_of({"v1", "runs", options.run, "state"}),
                            {{"at", fmt::format("{}", *options.at)}});
    if (!state) {
        return report(client, state.error(), options.run);
    }
    print_json(*state);
    return ExitCode::Ok;
}

ExitCode replay(const Host& host, const ReplayOptions& options) {
    auto client = options.connection.open(host);
    if (!client) {
        return report(client.error());
    }
    if (options.at) {
        return show_past(*client, options);
    }
    auto query = options.from == 0 ? client::Query{}
                                   : client::Query{{"from", fmt::format("{}", options.from)}};
    auto replayed = client->get(client::path_of({"v1", "runs", options.run, "replay"}), query);
    if (!replayed) {
        return report(*client, replayed.error(), options.run);
    }
    if (options.is_json) {
        print_json(*replayed);
    } else {
        print_report(*replayed);
    }
    const auto* same = replayed->find("same");
    return same != nullptr && *same == Value{true} ? ExitCode::Ok : ExitCode::Failed;
}

} // namespace

Command replay_command(const Host& host) {
    auto options = std::make_shared<ReplayOptions>();
    // It takes as long as the history is.
    options->connection.timeout = Nanos{0};
    auto command =
        Command{.name = "replay",
                .help = "Decide a run's history again and compare",
                .words = {run_word(options->run),
                          {.name = "--from",
                           .target = &options->from,
                           .help = "Begin at the last checkpoint at or before this event",
                           .value = "EVENT"},
                          {.name = "--at",
                           .target = &options->at,
                           .help = "Print the state right after this event instead",
                           .value = "EVENT"},
                          json_word(options->is_json, "As JSON")},
                .run = [&host, options] { return replay(host, *options); }};
    options->connection.add_with_data_to(command);
    return command;
}

} // namespace sluice::cli
