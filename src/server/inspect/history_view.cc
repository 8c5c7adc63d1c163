#include "server/inspect/history_view.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "trigger/change.h"
#include "value/json.h"
#include "value/wording.h"

namespace sluice::server::inspect {

Value entry_view(const trigger::Entry& entry, EntryDetail detail) {
    auto event = value::parse_json(entry.json);
    auto view = Value::object({{"event", value::number(entry.number.raw())},
                               {"time", entry.moment.time},
                               {"origin", to_string(entry.origin)},
                               {"fate", to_string(entry.fate)},
                               {"json", event ? *event : Value{entry.json}}});
    if (detail == EntryDetail::Event) {
        return view;
    }
    auto changes = std::vector<Value>{};
    std::ranges::transform(entry.changes, std::back_inserter(changes),
                           [](const auto& change) { return trigger::to_value(change); });
    return view.with("changes", Value::list(std::move(changes)));
}

Value replay_view(const engine::ReplayReport& report) {
    auto differences = std::vector<Value>{};
    for (const auto& each : report.differences) {
        differences.push_back(
            Value::object({{"event", value::number(each.event.raw())}, {"what", each.what}}));
    }
    return Value::object({{"events", value::number(report.events)},
                          {"from", value::number(report.from)},
                          {"same", report.difference_count == 0},
                          {"differences", value::number(report.difference_count)},
                          {"is_same_software", report.is_same_software},
                          {"first", Value::list(std::move(differences))}});
}

} // namespace sluice::server::inspect
