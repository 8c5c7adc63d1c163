#include "sluice/inspect/replay_command.h"

#include "engine/inspector.h"
#include "server/inspect/history_view.h"
#include "server/inspect/run_view.h"
#include "sluice/output.h"
#include "sluice/session.h"

namespace sluice::app {

namespace {

void print_report(const engine::ReplayReport& report) {
    auto from = report.from == 0 ? std::string{}
                                 : fmt::format(", from the checkpoint at event {} on", report.from);
    if (report.difference_count == 0) {
        print("{} events decided again{}: all the same", report.events, from);
        return;
    }
    for (const auto& each : report.differences) {
        print("event #{}: {}", each.event.raw(), each.what);
    }
    print("{} events decided again{}: {} differ{}", report.events, from, report.difference_count,
          report.is_same_software ? "" : ", which another release recorded: changes, not damage");
}

} // namespace

ExitCode replay(const ReplayOptions& options) {
    auto store = open_to_read(options.data);
    if (!store) {
        return app::report(store.error());
    }
    auto vocabulary = trigger::Vocabulary{};
    auto inspector = engine::Inspector{**store, vocabulary};
    auto run = engine::RunName{.id = options.run};
    if (options.at) {
        auto state = engine::state_at(inspector, run, trigger::EventNumber{*options.at});
        if (!state) {
            return app::report(state.error());
        }
        print_json(server::inspect::state_view(*state->state));
        return ExitCode::Ok;
    }
    auto report = engine::replay(inspector, run, decide_limits, trigger::EventNumber{options.from});
    if (!report) {
        return app::report(report.error());
    }
    if (options.is_json) {
        print_json(server::inspect::replay_view(*report));
    } else {
        print_report(*report);
    }
    return report->difference_count == 0 ? ExitCode::Ok : ExitCode::Failed;
}

} // namespace sluice::app
