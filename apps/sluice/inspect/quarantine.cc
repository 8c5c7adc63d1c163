#include "sluice/inspect/quarantine.h"

#include "engine/quarantine.h"
#include "sluice/output.h"
#include "value/json.h"
#include "value/time_text.h"

namespace sluice::app {

Result<void> show_quarantine(const store::Store& store, const ShowOptions& options) {
    auto table = Table{{"SINCE", "RUN", "SOURCE", "NUMBER", "EVENT"}};
    auto items = std::vector<Value>{};
    for (const auto& each : TRY(engine::read_quarantine(store, options.limit))) {
        auto event = value::parse_json(each.json);
        auto json = event ? *event : Value{each.json};
        auto since = value::format_time(std::chrono::floor<std::chrono::milliseconds>(each.since));
        table.add(
            {since, each.run, each.partition, fmt::format("{}", each.number), brief(json, 100)});
        items.push_back(Value::object({{"since", each.since},
                                       {"namespace", each.space},
                                       {"run", each.run},
                                       {"source", each.partition},
                                       {"number", number(each.number)},
                                       {"event", json}}));
    }
    if (options.is_json) {
        print_json(Value::list(std::move(items)));
    } else {
        table.print();
    }
    return {};
}

} // namespace sluice::app
