#include "sluice/inspect/why_command.h"

#include <charconv>
#include <optional>
#include <utility>

#include "sluice/inspect/narrator.h"
#include "sluice/inspect/waiting.h"
#include "sluice/output.h"
#include "sluice/session.h"
#include "value/json.h"
#include "value/time_text.h"

namespace sluice::app {

namespace {

/// One time the event was decided: it comes back when it was kept, or sent again.
struct Step {
    trigger::Entry entry;
    EventHeading heading;
    std::string origin;
    std::string fate;
    std::vector<std::string> consequences;
};

std::optional<std::uint64_t> number_in(std::string_view text) {
    if (text.starts_with('#')) {
        text.remove_prefix(1);
    }
    auto parsed = std::uint64_t{0};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional{parsed}
                                                                    : std::nullopt;
}

Result<EventHeading> wanted_event(const engine::Inspector& inspector, const engine::RunName& run,
                                  const std::string& text) {
    auto wanted = EventHeading{.id = text};
    auto is_id = false;
    auto by_number = std::optional<EventHeading>{};
    auto number = number_in(text);
    TRY(inspector.read_history(run, [&](const trigger::Entry& entry) {
        if (number && entry.number.raw() == *number) {
            by_number = heading_of(entry);
        } else if (!text.starts_with('#') && !is_id) {
            is_id = entry.json.find(text) != std::string::npos && heading_of(entry).id == text;
        }
        return !is_id;
    }));
    if (is_id) {
        return wanted;
    }
    if (!by_number) {
        return fail(Errc::NotFound,
                    "run \"{}\" has no event \"{}\": `sluice show {} --events` lists them", run.id,
                    text, run.id);
    }
    return *by_number;
}

Result<std::vector<Step>> steps_of(engine::Inspector& inspector, const engine::RunName& run,
                                   const EventHeading& wanted) {
    auto narrator = Narrator{TRY(inspector.trigger_names(run))};
    auto steps = std::vector<Step>{};
    TRY(inspector.read_history(run, [&](const trigger::Entry& entry) {
        narrator.note(entry);
        if (entry.json.find(wanted.id) == std::string::npos) {
            return true;
        }
        auto heading = heading_of(entry);
        if (heading.id == wanted.id && (wanted.source.empty() || heading.source == wanted.source)) {
            steps.push_back({.entry = entry,
                             .heading = std::move(heading),
                             .origin = narrator.origin(entry),
                             .fate = narrator.fate(entry),
                             .consequences = narrator.consequences(entry)});
        }
        return true;
    }));
    return steps;
}

Value strings(const std::vector<std::string>& texts) {
    auto items = std::vector<Value>{};
    items.insert(items.end(), texts.begin(), texts.end());
    return Value::list(std::move(items));
}

Value to_value(const Step& step) {
    return Value::object({{"event", number(step.entry.number.raw())},
                          {"id", step.heading.id},
                          {"source", step.heading.source},
                          {"type", step.heading.type},
                          {"time", value::format_time(step.entry.moment.time)},
                          {"origin", to_string(step.entry.origin)},
                          {"fate", to_string(step.entry.fate)},
                          {"came", step.origin},
                          {"why", step.fate},
                          {"then", strings(step.consequences)}});
}

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

Result<void> explain_event(engine::Inspector& inspector, const engine::RunName& run,
                           const WhyOptions& options) {
    auto wanted = TRY(wanted_event(inspector, run, options.event));
    auto steps = TRY(steps_of(inspector, run, wanted));
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

/// The event that ended the run, or its last generation.
Result<std::optional<Step>> last_step(engine::Inspector& inspector, const engine::RunName& run) {
    auto narrator = Narrator{TRY(inspector.trigger_names(run))};
    auto last = std::optional<Step>{};
    TRY(inspector.read_history(run, [&](const trigger::Entry& entry) {
        narrator.note(entry);
        for (const auto& change : entry.changes) {
            if (std::holds_alternative<trigger::Ended>(change) ||
                std::holds_alternative<trigger::Renewing>(change)) {
                last = Step{entry, heading_of(entry), narrator.origin(entry), narrator.fate(entry),
                            narrator.consequences(entry)};
            }
        }
        return true;
    }));
    return last;
}

std::vector<std::string> waits_of(const trigger::RunState& state,
                                  const std::vector<WaitingTrigger>& triggers) {
    auto lines = std::vector<std::string>{};
    for (const auto& each : triggers) {
        lines.push_back(to_text(each));
    }
    for (const auto& [key, task] : state.tasks) {
        if (!state.is_open(task)) {
            continue;
        }
        lines.push_back(
            fmt::format("task {}/{}, {}, attempt {}, is {}", key.fire.raw(), key.index,
                        task.child.empty() ? task.target : "run " + task.child, task.attempt,
                        task.is_waiting ? "waiting for its next attempt" : "under way"));
    }
    for (const auto& [timer, set] : state.timers) {
        lines.push_back(fmt::format("timer {}{} is due {}", timer.raw(),
                                    set.name.empty() ? "" : " " + set.name,
                                    value::format_time(set.due)));
    }
    for (const auto& [event, kept] : state.kept) {
        lines.push_back(fmt::format("event #{} is kept ({}) since {}", event.raw(),
                                    to_string(kept.reason), value::format_time(kept.since)));
    }
    return lines;
}

Result<void> explain_run(engine::Inspector& inspector, const engine::RunName& run,
                         const WhyOptions& options) {
    auto state = TRY(inspector.run(run));
    auto last = TRY(last_step(inspector, run));
    auto waits = state->has_ended() ? std::vector<std::string>{}
                                    : waits_of(*state, TRY(waiting_triggers(inspector, run)));
    if (options.is_json) {
        auto answer = Value::object({{"run", run.id},
                                     {"status", to_string(state->progress.status)},
                                     {"generation", number(state->info.generation)}});
        auto ended_by = last ? to_value(*last) : Value{};
        answer =
            state->has_ended()
                ? answer.with("ended_by", ended_by)
                : answer.with("waits", strings(waits)).with("generation_before_ended_by", ended_by);
        print_json(answer);
        return {};
    }
    if (!state->has_ended()) {
        print("run {} is running after {} events and waits:", run.id, state->progress.events);
        for (const auto& line : waits) {
            print("  - {}", line);
        }
        if (last) {
            print("It is in its generation {}. The one before ended with this event:",
                  state->info.generation);
            print_step(*last);
        }
        return {};
    }
    print("run {} {}{}", run.id, to_string(state->progress.status),
          state->progress.error.is_null() ? "" : ": " + describe_error(state->progress.error));
    if (last) {
        print("It ended with this event:");
        print_step(*last);
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
    auto explained = options.event.empty() ? explain_run(inspector, run, options)
                                           : explain_event(inspector, run, options);
    return explained ? ExitCode::Ok : report(explained.error());
}

} // namespace sluice::app
