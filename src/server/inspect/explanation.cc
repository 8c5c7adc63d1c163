#include "server/inspect/explanation.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "value/time_text.h"
#include "value/wording.h"

namespace sluice::server::inspect {

namespace {

constexpr auto trigger_steps_max = std::size_t{20};

std::optional<std::uint64_t> number_in(std::string_view text) {
    if (text.starts_with('#')) {
        text.remove_prefix(1);
    }
    auto parsed = std::uint64_t{0};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional{parsed}
                                                                    : std::nullopt;
}

bool is_of(const EventHeading& heading, const EventHeading& wanted) {
    return heading.id == wanted.id && (wanted.source.empty() || heading.source == wanted.source);
}

Result<EventHeading> wanted_event(const engine::Inspector& inspector, const engine::RunName& run,
                                  const std::string& text, const std::string& source) {
    auto wanted = EventHeading{.id = text, .source = source};
    auto is_id = false;
    auto by_number = std::optional<EventHeading>{};
    auto number = source.empty() ? number_in(text) : std::nullopt;
    TRY(inspector.read_history(run, [&](const trigger::Entry& entry) {
        if (number && entry.number.raw() == *number) {
            by_number = heading_of(entry);
        } else if (!text.starts_with('#') && !is_id) {
            is_id = entry.json.find(text) != std::string::npos && is_of(heading_of(entry), wanted);
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

Step step_of(const Narrator& narrator, const trigger::Entry& entry) {
    return {.entry = entry,
            .heading = heading_of(entry),
            .origin = narrator.origin(entry),
            .fate = narrator.fate(entry),
            .consequences = narrator.consequences(entry)};
}

std::vector<std::string> waits_of(const trigger::RunState& state,
                                  const std::vector<WaitingTrigger>& triggers) {
    auto lines = std::vector<std::string>{};
    if (state.is_paused()) {
        lines.emplace_back("it is paused: what comes waits until it is resumed");
    }
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

bool ends_generation(const trigger::Change& change) {
    return std::holds_alternative<trigger::Ended>(change) ||
           std::holds_alternative<trigger::Renewing>(change);
}

std::string state_of(const WaitingTrigger& row, bool has_ended) {
    if (row.is_gone) {
        return "it has fired and is gone";
    }
    if (has_ended) {
        return "the run has ended";
    }
    return row.is_on ? "it waits" : "it is disabled";
}

} // namespace

Value to_value(const Step& step) {
    return Value::object({{"event", value::number(step.entry.number.raw())},
                          {"id", step.heading.id},
                          {"source", step.heading.source},
                          {"type", step.heading.type},
                          {"subject", step.heading.subject},
                          {"scope", step.heading.scope},
                          {"time", value::format_time(step.entry.moment.time)},
                          {"origin", to_string(step.entry.origin)},
                          {"fate", to_string(step.entry.fate)},
                          {"came", step.origin},
                          {"why", step.fate},
                          {"then", value::texts(step.consequences)}});
}

Result<std::vector<Step>> explain_event(engine::Inspector& inspector, const engine::RunName& run,
                                        const std::string& event, const std::string& source) {
    auto wanted = TRY(wanted_event(inspector, run, event, source));
    auto narrator = Narrator{TRY(inspector.trigger_names(run))};
    auto steps = std::vector<Step>{};
    TRY(inspector.read_history(run, [&](const trigger::Entry& entry) {
        narrator.note(entry);
        if (entry.json.find(wanted.id) != std::string::npos && is_of(heading_of(entry), wanted)) {
            steps.push_back(step_of(narrator, entry));
        }
        return true;
    }));
    return steps;
}

Result<RunExplanation> explain_run(engine::Inspector& inspector, const engine::RunName& run) {
    auto explanation = RunExplanation{.state = TRY(inspector.run(run)), .waits = {}, .last = {}};
    auto narrator = Narrator{TRY(inspector.trigger_names(run))};
    TRY(inspector.read_history(run, [&](const trigger::Entry& entry) {
        narrator.note(entry);
        if (std::ranges::any_of(entry.changes, ends_generation)) {
            explanation.last = step_of(narrator, entry);
        }
        return true;
    }));
    if (!explanation.state->has_ended()) {
        explanation.waits = waits_of(*explanation.state, TRY(waiting_triggers(inspector, run)));
    }
    return explanation;
}

Value to_value(const RunExplanation& explanation) {
    const auto& state = *explanation.state;
    auto view = Value::object({{"run", state.id},
                               {"status", to_string(state.progress.status)},
                               {"events", value::number(state.progress.events)},
                               {"generation", value::number(state.info.generation)}});
    auto ended_by = explanation.last ? to_value(*explanation.last) : Value{};
    return state.has_ended() ? view.with("error", state.progress.error).with("ended_by", ended_by)
                             : view.with("waits", value::texts(explanation.waits))
                                   .with("generation_before_ended_by", ended_by);
}

Result<TriggerExplanation> explain_trigger(engine::Inspector& inspector, const engine::RunName& run,
                                           const std::string& id) {
    auto explanation = TriggerExplanation{.id = id, .rows = {}, .steps = {}};
    explanation.has_ended = TRY(inspector.run(run))->has_ended();
    explanation.rows = TRY(trigger_rows(inspector, run));
    std::erase_if(explanation.rows, [&](const WaitingTrigger& row) { return row.id != id; });
    auto names = TRY(inspector.trigger_names(run));
    auto narrator = Narrator{names};
    TRY(inspector.read_history(run, [&](const trigger::Entry& entry) {
        narrator.note(entry);
        auto is_told = false;
        for (const auto& change : entry.changes) {
            if (const auto* met = std::get_if<trigger::Activated>(&change)) {
                explanation.activations += names(met->trigger) == id ? 1 : 0;
            } else if (const auto* fired = std::get_if<trigger::Fired>(&change)) {
                is_told |= names(fired->trigger) == id;
            } else if (const auto* faulted = std::get_if<trigger::Faulted>(&change)) {
                is_told |= names(faulted->trigger) == id;
            }
        }
        if (is_told) {
            if (explanation.steps.size() == trigger_steps_max) {
                explanation.steps.erase(explanation.steps.begin());
            }
            explanation.steps.push_back(step_of(narrator, entry));
        }
        return true;
    }));
    if (explanation.rows.empty() && explanation.activations == 0 && explanation.steps.empty()) {
        return fail(Errc::NotFound, "run \"{}\" has no trigger \"{}\"", run.id, id);
    }
    return explanation;
}

Value to_value(const TriggerExplanation& explanation) {
    auto states = std::vector<Value>{};
    for (const auto& row : explanation.rows) {
        states.push_back(to_value(row)
                             .with("state", state_of(row, explanation.has_ended))
                             .with("text", to_text(row)));
    }
    auto steps = std::vector<Value>{};
    for (const auto& step : explanation.steps) {
        steps.push_back(to_value(step));
    }
    return Value::object({{"trigger", explanation.id},
                          {"states", Value::list(std::move(states))},
                          {"activations", value::number(explanation.activations)},
                          {"steps", Value::list(std::move(steps))}});
}

} // namespace sluice::server::inspect
