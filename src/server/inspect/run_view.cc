#include "server/inspect/run_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "value/archive.h"
#include "value/json.h"
#include "value/wording.h"

namespace sluice::server::inspect {

namespace {

std::string_view name_of(trigger::TimerPurpose purpose) {
    switch (purpose) {
        case trigger::TimerPurpose::Author: return "author";
        case trigger::TimerPurpose::Deadline: return "deadline";
        case trigger::TimerPurpose::Retry: return "retry";
        case trigger::TimerPurpose::RunTimeout: return "run timeout";
        case trigger::TimerPurpose::CancelGrace: return "cancel grace";
        case trigger::TimerPurpose::KeptTtl: return "kept event";
    }
    return "unknown";
}

} // namespace

Value progress_view(const trigger::RunState& state) {
    const auto& [info, progress] = std::tie(state.info, state.progress);
    auto view = Value::object({{"run", state.id},
                               {"definition", info.definition},
                               {"trigger_set", info.set},
                               {"status", to_string(progress.status)},
                               {"paused", state.is_paused()},
                               {"started", info.started},
                               {"input", info.input},
                               {"labels", info.labels},
                               {"generation", value::number(info.generation)}});
    if (info.parent) {
        view = view.with("parent", info.parent->run);
    }
    if (!info.forked_from.empty()) {
        view = view.with("forked_from", info.forked_from);
    }
    if (progress.ended) {
        view = view.with("ended", *progress.ended)
                   .with("result", progress.result)
                   .with("error", progress.error);
    }
    if (progress.ids_forgotten_before) {
        view = view.with("ids_forgotten_before", *progress.ids_forgotten_before);
    }
    auto open_tasks = std::ranges::count_if(
        state.tasks, [&](const auto& each) { return state.is_open(each.second); });
    return view.with(
        "counts", Value::object({{"events", value::number(progress.events)},
                                 {"fired", value::number(progress.fires)},
                                 {"duplicates", value::number(progress.duplicates)},
                                 {"tasks", value::number(static_cast<std::uint64_t>(open_tasks))},
                                 {"timers", value::number(state.timers.size())},
                                 {"kept", value::number(state.kept.size())},
                                 {"queued", value::number(state.queue.size())}}));
}

Value contexts_view(const trigger::RunState& state) {
    auto scopes = std::vector<value::Member>{};
    for (const auto& [path, scope] : state.scopes) {
        if (state.scope_at(path)) {
            scopes.push_back({path, scope.variables});
        }
    }
    return Value::object({{"run", state.context}, {"scopes", Value::map(std::move(scopes))}});
}

Value tasks_view(const trigger::RunState& state) {
    auto items = std::vector<Value>{};
    for (const auto& [key, task] : state.tasks) {
        if (!state.is_open(task)) {
            continue;
        }
        const auto* scope = state.path_of(task.scope);
        items.push_back(
            Value::object({{"task", fmt::format("{}/{}/{}", state.id, key.fire.raw(), key.index)},
                           {"function", task.target},
                           {"child", task.child},
                           {"attempt", value::number(task.attempt)},
                           {"is_waiting", task.is_waiting},
                           {"scope", scope == nullptr ? std::string{} : *scope},
                           {"input", task.input}}));
    }
    return Value::list(std::move(items));
}

Value timers_view(const trigger::RunState& state) {
    auto items = std::vector<Value>{};
    for (const auto& [number_of, timer] : state.timers) {
        items.push_back(Value::object({{"timer", value::number(number_of.raw())},
                                       {"name", timer.name},
                                       {"purpose", name_of(timer.purpose)},
                                       {"due", timer.due},
                                       {"is_absolute", timer.is_absolute},
                                       {"occurrence", value::number(timer.occurrence)}}));
    }
    return Value::list(std::move(items));
}

Value kept_view(const trigger::RunState& state) {
    auto items = std::vector<Value>{};
    for (const auto& [event, kept] : state.kept) {
        auto parsed = value::parse_json(kept.json);
        items.push_back(Value::object({{"event", value::number(event.raw())},
                                       {"reason", to_string(kept.reason)},
                                       {"since", kept.since},
                                       {"json", parsed ? *parsed : Value{kept.json}}}));
    }
    return Value::list(std::move(items));
}

Value state_view(const trigger::RunState& state) {
    return progress_view(state)
        .with("contexts", contexts_view(state))
        .with("tasks", tasks_view(state))
        .with("timers", timers_view(state))
        .with("kept", kept_view(state));
}

} // namespace sluice::server::inspect
