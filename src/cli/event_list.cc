#include "cli/event_list.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/connection.h"
#include "cli/live_view.h"
#include "cli/output.h"
#include "value/json.h"

namespace sluice::cli {

namespace {

constexpr auto page_max = std::uint64_t{1'000};

void print_changes(const Value& entry) {
    const auto* changes = entry.find("changes");
    const auto* told = entry.find("then");
    if (told != nullptr && told->is_list()) {
        for (const auto& sentence : told->as_list()) {
            print("    {}", sentence.as_string());
        }
    } else if (changes != nullptr && changes->is_list()) {
        for (const auto& change : changes->as_list()) {
            print("    {}", brief(change, 160));
        }
    }
}

} // namespace

ExitCode list_events(client::Client& client, const std::string& run, std::uint64_t from,
                     std::uint64_t limit, Detail detail, bool is_json) {
    for (auto left = limit; left > 0;) {
        auto query = client::Query{{"from", fmt::format("{}", from)},
                                   {"limit", fmt::format("{}", std::min(left, page_max))}};
        if (detail == Detail::Changes) {
            query.emplace_back("changes", "true");
        }
        auto page = client.get(client::path_of({"v1", "runs", run, "events"}), query);
        if (!page) {
            return report(client, page.error(), run);
        }
        const auto* events = page->find("events");
        for (const auto& entry : events == nullptr ? std::span<const Value>{} : events->as_list()) {
            if (is_json) {
                print_line(value::to_json(entry));
            } else {
                print_line(event_line(entry));
                print_changes(entry);
            }
            --left;
        }
        const auto* next = page->find("next");
        if (next == nullptr || !next->is_int()) {
            return ExitCode::Ok;
        }
        from = static_cast<std::uint64_t>(next->as_int());
    }
    say("there is more: these are the first {} events (--limit)", limit);
    return ExitCode::Ok;
}

} // namespace sluice::cli
