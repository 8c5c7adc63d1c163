#include <chrono>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/json_option.h"
#include "cli/output.h"
#include "client/client.h"

namespace sluice::cli {

namespace {

constexpr auto look_interval = std::chrono::milliseconds{500};

struct BackfillOptions {
    Connection connection;
    std::string definition;
    std::string from;
    std::string to;
    std::string every;
    std::string zone;
    std::string schedule;
    std::string input;
    std::uint64_t limit = 1;
    bool is_dry_run = false;
    bool is_detached = false;
    bool is_json = false;
};

Result<Value> request_of(const BackfillOptions& options) {
    auto body = Value::object({{"definition", options.definition},
                               {"from", options.from},
                               {"to", options.to},
                               {"limit", static_cast<std::int64_t>(options.limit)}});
    for (const auto& [name, text] : {std::pair{"every", &options.every},
                                     {"zone", &options.zone},
                                     {"schedule", &options.schedule}}) {
        if (!text->empty()) {
            body = body.with(name, *text);
        }
    }
    if (!options.input.empty()) {
        body = body.with("input", TRY(read_json_option("--input", options.input)));
    }
    return body;
}

std::string times_text(const Value& view) {
    return fmt::format("{} runs of {}, from {} to {}", view.find("times")->as_int(),
                       text_at(view, "definition"), text_at(view, "from"), text_at(view, "to"));
}

ExitCode tell_plan(const Value& view) {
    say("would start {}", times_text(view));
    for (const auto& each : view.find("first")->as_list()) {
        print_line(fmt::format("{}  {}", text_at(each, "time"), text_at(each, "run")));
    }
    return ExitCode::Ok;
}

std::string progress_text(const Value& progress) {
    auto text = fmt::format("{} of {} started", progress.find("started")->as_int(),
                            progress.find("times")->as_int());
    for (const auto& [status, count] : progress.find("runs")->as_map()) {
        text += fmt::format(", {} {}", count.as_int(), status);
    }
    return text;
}

/// Until it has ended; whoever stops looking leaves it going.
ExitCode follow(client::Client& client, const std::string& run, bool is_json) {
    auto said = std::string{};
    while (true) {
        auto progress = client.get(client::path_of({"v1", "backfills", run}));
        if (!progress) {
            return report(progress.error());
        }
        auto text = progress_text(*progress);
        if (text != said && !is_json) {
            say("{}", text);
            said = text;
        }
        auto status = text_at(*progress, "status");
        if (status != "running" && status != "queued") {
            if (is_json) {
                print_json(*progress);
            } else if (status != "succeeded") {
                say("backfill {} {}: {}", run, status, describe_error(*progress->find("error")));
            }
            return status == "succeeded" ? ExitCode::Ok : ExitCode::Failed;
        }
        std::this_thread::sleep_for(look_interval);
    }
}

ExitCode backfill(const Host& host, const BackfillOptions& options) {
    auto body = request_of(options);
    if (!body) {
        return report(body.error());
    }
    auto client = options.connection.open(host);
    if (!client) {
        return report(client.error());
    }
    auto query = options.is_dry_run ? client::Query{{"dry_run", "true"}} : client::Query{};
    auto started = client->post("/v1/backfills", *body, query, client::Repeat::Safe);
    if (!started) {
        return report(started.error());
    }
    if (options.is_json && (options.is_dry_run || options.is_detached)) {
        print_json(*started);
        return ExitCode::Ok;
    }
    if (options.is_dry_run) {
        return tell_plan(*started);
    }
    auto run = text_at(*started, "run");
    if (!options.is_json) {
        auto is_there = *started->find("existing") == Value{true};
        say("{} {}: {}", is_there ? "goes on with" : "backfill", run, times_text(*started));
        say("interrupt this whenever you like: the server goes on, and the same command looks "
            "again");
    }
    if (options.is_detached) {
        print_line(run);
        return ExitCode::Ok;
    }
    return follow(*client, run, options.is_json);
}

} // namespace

Command backfill_command(const Host& host) {
    auto options = std::make_shared<BackfillOptions>();
    auto command = Command{
        .name = "backfill",
        .help = "Start a run of a definition for each time of a range, so many at once",
        .words = {{.name = "DEFINITION",
                   .target = &options->definition,
                   .help = "Its name; `sluice deploy` gives it to the server",
                   .is_required = true},
                  {.name = "--from",
                   .target = &options->from,
                   .help = "The first day, 2026-11-01, or a time",
                   .value = "DATE"},
                  {.name = "--to",
                   .target = &options->to,
                   .help = "The last day, or a time",
                   .value = "DATE"},
                  {.name = "--every",
                   .target = &options->every,
                   .help = "When runs are due: a cron expression or a duration; otherwise as the "
                           "definition's schedule has it",
                   .value = "CRON"},
                  {.name = "--zone",
                   .target = &options->zone,
                   .help = "The time zone of days and of the cron expression",
                   .value = "ZONE"},
                  {.name = "--schedule",
                   .target = &options->schedule,
                   .help = "Which of the definition's schedules",
                   .value = "NAME"},
                  {.name = "--limit",
                   .target = &options->limit,
                   .help = "So many runs at once",
                   .value = "N",
                   .least = 1},
                  {.name = "--input",
                   .target = &options->input,
                   .help = "JSON, or @FILE: a map also gets `time`",
                   .value = "JSON"},
                  {.name = "--dry-run",
                   .target = &options->is_dry_run,
                   .help = "Only say which runs that would be"},
                  {.name = "--detach",
                   .target = &options->is_detached,
                   .help = "Do not wait for its end"}},
        .run = [&host, options] { return backfill(host, *options); }};
    command.words.push_back(json_word(options->is_json, "As JSON"));
    options->connection.add_to(command);
    return command;
}

} // namespace sluice::cli
