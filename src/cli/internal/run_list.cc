#include "cli/internal/run_list.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/connection.h"
#include "cli/internal/time_bound.h"
#include "cli/output.h"
#include "value/time_text.h"

namespace sluice::cli {

namespace {

constexpr auto runs_page_max = std::uint64_t{1'000};

struct Found {
    std::vector<Value> runs;
    std::string cursor; ///< Behind them; empty: there are no more.
};

client::Answer<Found> find_runs(client::Client& client, const RunListOptions& options) {
    auto found = Found{.cursor = options.cursor};
    auto filter = TRY(options.read_filter());
    do {
        filter.page = options.is_all ? runs_page_max
                                     : std::min(runs_page_max, options.limit - found.runs.size());
        auto page = TRY(client.page_of_runs(filter, found.cursor));
        if (const auto* runs = page.find("runs"); runs != nullptr && runs->is_list()) {
            found.runs.insert(found.runs.end(), runs->as_list().begin(), runs->as_list().end());
        }
        found.cursor = text_at(page, "cursor");
    } while (!found.cursor.empty() && (options.is_all || found.runs.size() < options.limit));
    return found;
}

void print_table(const std::vector<Value>& runs) {
    auto table = Table{{"RUN", "DEFINITION", "STATUS", "STARTED", "DURATION"}};
    for (const auto& run : runs) {
        auto started = value::parse_time(text_at(run, "started"));
        auto ended = value::parse_time(text_at(run, "ended"));
        table.add({text_at(run, "run"), text_at(run, "definition"), text_at(run, "status"),
                   started ? time_text(*started) : "",
                   started && ended ? duration_text(*ended - *started) : ""});
    }
    table.print();
}

} // namespace

Result<client::RunFilter> RunListOptions::read_filter() const {
    auto read = filter;
    for (auto [name, bound] : {std::pair{"--since", &read.started_after},
                               {"--until", &read.started_before},
                               {"--ended-since", &read.ended_after},
                               {"--ended-until", &read.ended_before}}) {
        *bound = TRY(read_time_bound(name, *bound));
    }
    return read;
}

void RunListOptions::add_filter_to(Command& command) {
    auto words = std::vector<Word>{
        {.name = "--status",
         .target = &filter.status,
         .help = "Runs with this status",
         .choices = {"queued", "running", "succeeded", "failed", "cancelled", "timed out"}},
        {.name = "--definition",
         .target = &filter.definition,
         .help = "Runs of this definition",
         .value = "NAME"},
        {.name = "--label",
         .target = &filter.label,
         .help = "Runs with this label",
         .value = "KEY=VALUE"},
        {.name = "--since",
         .target = &filter.started_after,
         .help = "Runs that started then or later: a time, or a duration before now",
         .value = "TIME"},
        {.name = "--until",
         .target = &filter.started_before,
         .help = "Runs that started before then",
         .value = "TIME"},
        {.name = "--ended-since",
         .target = &filter.ended_after,
         .help = "The same of their end",
         .value = "TIME"},
        {.name = "--ended-until",
         .target = &filter.ended_before,
         .help = "The same of their end",
         .value = "TIME"},
    };
    command.words.insert(command.words.end(), words.begin(), words.end());
}

void RunListOptions::add_to(Command& command) {
    add_filter_to(command);
    auto words = std::vector<Word>{
        {.name = "--cursor",
         .target = &cursor,
         .help = "Where the page before ended",
         .value = "TEXT"},
        {.name = "--limit", .target = &limit, .help = "At most so many", .value = "N", .least = 1}};
    command.words.insert(command.words.end(), words.begin(), words.end());
}

ExitCode list_runs(client::Client& client, const RunListOptions& options, bool is_json) {
    auto found = find_runs(client, options);
    if (!found) {
        return report(found.error());
    }
    if (is_json) {
        auto cursor = found->cursor.empty() ? Value{} : Value{found->cursor};
        print_json(
            Value::object({{"runs", Value::list(std::move(found->runs))}, {"cursor", cursor}}));
        return ExitCode::Ok;
    }
    print_table(found->runs);
    if (!found->cursor.empty()) {
        say("there is more: the same with --cursor {}", found->cursor);
    }
    return ExitCode::Ok;
}

} // namespace sluice::cli
