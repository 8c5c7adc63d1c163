#include "server/inspect/waiting.h"

#include "value/json.h"
#include "value/wording.h"

namespace sluice::server::inspect {

namespace {

std::string pattern_text(const Value& pattern) {
    if (!pattern.is_map()) {
        return pattern.is_string() ? std::string{pattern.as_string()} : value::to_json(pattern);
    }
    auto subject = text_at(pattern, "subject");
    return subject.empty() ? text_at(pattern, "type")
                           : fmt::format("{} of {}", text_at(pattern, "type"), subject);
}

std::string patterns_text(const Value& on) {
    if (!on.is_list()) {
        return pattern_text(on);
    }
    auto text = std::string{};
    for (const auto& pattern : on.as_list()) {
        text += (text.empty() ? "" : ", ") + pattern_text(pattern);
    }
    return text;
}

std::string condition_text(const Value& form) {
    const auto* condition = form.find("condition");
    if (condition == nullptr || !condition->is_map()) {
        return condition == nullptr ? std::string{} : text_at(form, "condition");
    }
    auto text = std::string{};
    for (const auto& [name, params] : condition->as_map()) {
        text += fmt::format("{} {}", name, brief(params));
    }
    return text;
}

std::uint64_t count_at(const Value& state, std::string_view key) {
    const auto* found = state.find(key);
    return found == nullptr || !found->is_int() ? 0 : static_cast<std::uint64_t>(found->as_int());
}

bool is_on(const Value& form, const Value& state) {
    auto enabled = static_cast<trigger::Switch>(count_at(state, "enabled"));
    if (enabled != trigger::Switch::AsWritten) {
        return enabled == trigger::Switch::On;
    }
    const auto* written = form.find("enabled");
    return written == nullptr || written->as_bool();
}

/// Of a task, which keeps its status in its context.
std::string told_by(const Value& memory) {
    const auto* error = memory.find("error");
    return error == nullptr ? text_at(memory, "message") : describe_error(*error);
}

/// Tasks hear from each other; what else they wait for, their status tells.
bool is_idle_task(const WaitingTrigger& row) {
    return row.condition.starts_with("dag.") && row.status != "halted" && row.status != "waiting";
}

WaitingTrigger row_of(const Value& form, const Value& state) {
    const auto* on = form.find("on");
    const auto* gone = state.find("is_gone");
    const auto* memory = state.find("memory");
    auto remembered = memory == nullptr ? Value{} : *memory;
    return {.id = text_at(form, "id"),
            .scope = text_at(state, "scope"),
            .patterns = on == nullptr ? std::string{} : patterns_text(*on),
            .condition = condition_text(form),
            .progress = count_at(state, "progress"),
            .fired = count_at(state, "fired"),
            .is_on = is_on(form, state),
            .is_gone = gone != nullptr && gone->as_bool(),
            .status = text_at(remembered, "status"),
            .told = told_by(remembered)};
}

} // namespace

Result<std::vector<WaitingTrigger>> trigger_rows(engine::Inspector& inspector,
                                                 const engine::RunName& run) {
    auto all = TRY(inspector.triggers(run));
    auto rows = std::vector<WaitingTrigger>{};
    for (const auto& each : all.as_list()) {
        const auto& form = *each.find("trigger");
        auto has_root = false;
        for (const auto& state : each.find("states")->as_list()) {
            has_root |= text_at(state, "scope").empty();
            rows.push_back(row_of(form, state));
        }
        if (!has_root) {
            rows.push_back(row_of(form, Value{}));
        }
    }
    return rows;
}

Result<std::vector<WaitingTrigger>> waiting_triggers(engine::Inspector& inspector,
                                                     const engine::RunName& run) {
    auto rows = TRY(trigger_rows(inspector, run));
    std::erase_if(rows, [](const WaitingTrigger& row) {
        return row.is_gone || !row.is_on || row.patterns.empty() || is_idle_task(row);
    });
    return rows;
}

std::string to_text(const WaitingTrigger& trigger) {
    auto text = trigger.id;
    if (!trigger.scope.empty()) {
        text += fmt::format(" in {}", trigger.scope);
    }
    if (!trigger.status.empty()) {
        return fmt::format("{} is {}{}{}", text, trigger.status, trigger.told.empty() ? "" : ": ",
                           trigger.told);
    }
    text += fmt::format(" waits for {}", trigger.patterns);
    if (!trigger.condition.empty()) {
        text += fmt::format(": {}, {} so far", trigger.condition, trigger.progress);
    }
    if (trigger.fired > 0) {
        text += fmt::format("; fired {} time{}", trigger.fired, trigger.fired == 1 ? "" : "s");
    }
    return text;
}

Value to_value(const WaitingTrigger& trigger) {
    auto told = Value::object({{"trigger", trigger.id},
                               {"scope", trigger.scope},
                               {"on", trigger.patterns},
                               {"condition", trigger.condition},
                               {"progress", value::number(trigger.progress)},
                               {"fired", value::number(trigger.fired)}});
    return trigger.status.empty() ? told
                                  : told.with("status", trigger.status).with("told", trigger.told);
}

} // namespace sluice::server::inspect
