#include "sluice/inspect/why_command.h"

#include <utility>

#include "server/inspect/explanation.h"
#include "sluice/output.h"
#include "sluice/session.h"
#include "value/time_text.h"

namespace sluice::app {

namespace {

using server::inspect::explain_event;
using server::inspect::explain_run;
using server::inspect::Step;

void print_step(const Step& step) {
    const auto& heading = step.heading;
    print("event #{}  {}{}{}  id {}  {}", step.entry.number.raw(), heading.type,
          heading.subject.empty() ? "" : " of " + heading.subject,
          heading.scope.empty() ? "" : " in " + heading.scope, heading.id,
          value::format_time(step.entry.moment.time));
    print("  {}.", step.origin);
    print("  fate: {}{}", to_string(step.entry.fate), step.fate.empty() ? "" : ": " + step.fate);
    for (const auto& sentence : step.consequences) {
        print("  - {}", sentence);
    }
}

Result<void> tell_event(engine::Inspector& inspector, const engine::RunName& run,
                        const WhyOptions& options) {
    auto steps = TRY(explain_event(inspector, run, options.event));
    if (!options.is_json) {
        for (const auto& step : steps) {
            print_step(step);
        }
        return {};
    }
    auto items = std::vector<Value>{};
    for (const auto& step : steps) {
        items.push_back(to_value(step));
    }
    print_json(Value::object({{"run", run.id}, {"steps", Value::list(std::move(items))}}));
    return {};
}

Result<void> tell_run(engine::Inspector& inspector, const engine::RunName& run,
                      const WhyOptions& options) {
    auto explanation = TRY(explain_run(inspector, run));
    if (options.is_json) {
        print_json(to_value(explanation));
        return {};
    }
    const auto& state = *explanation.state;
    if (!state.has_ended()) {
        print("run {} is running after {} events and waits:", run.id, state.progress.events);
        for (const auto& line : explanation.waits) {
            print("  - {}", line);
        }
        if (explanation.last) {
            print("It is in its generation {}. The one before ended with this event:",
                  state.info.generation);
            print_step(*explanation.last);
        }
        return {};
    }
    print("run {} {}{}", run.id, to_string(state.progress.status),
          state.progress.error.is_null() ? "" : ": " + describe_error(state.progress.error));
    if (explanation.last) {
        print("It ended with this event:");
        print_step(*explanation.last);
    }
    return {};
}

} // namespace

ExitCode why(const WhyOptions& options) {
    auto store = open_to_read(options.data);
    if (!store) {
        return report(store.error());
    }
    auto vocabulary = trigger::Vocabulary{};
    auto inspector = engine::Inspector{**store, vocabulary};
    auto run = engine::RunName{.id = options.run};
    auto found = inspector.run(run);
    if (!found) {
        return report(found.error());
    }
    auto explained = options.event.empty() ? tell_run(inspector, run, options)
                                           : tell_event(inspector, run, options);
    return explained ? ExitCode::Ok : report(explained.error());
}

} // namespace sluice::app
