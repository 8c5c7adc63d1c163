#include "cli/internal/event_list.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/connection.h"
#include "cli/internal/live_view.h"
#include "cli/output.h"
#include "value/json.h"

namespace sluice::cli {

namespace {

constexpr auto events_page_max = std::uint64_t{1'000};

void print_consequences(const Value& entry) {
    const auto* told = entry.find("then");
    for (const auto& sentence : told == nullptr ? std::span<const Value>{} : told->as_list()) {
        print("    {}", sentence.as_string());
    }
}

} // namespace

ExitCode list_events(client::Client& client, const std::string& run, std::uint64_t from,
                     std::uint64_t limit, Detail detail, bool is_json) {
    for (auto left = limit; left > 0;) {
        auto query = client::Query{{"from", fmt::format("{}", from)},
                                   {"limit", fmt::format("{}", std::min(left, events_page_max))}};
        if (detail == Detail::Changes) {
            query.emplace_back(is_json ? "changes" : "told", "true");
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
                print_consequences(entry);
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
