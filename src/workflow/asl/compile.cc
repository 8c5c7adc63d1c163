#include "workflow/asl/compile.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/invariant.h"
#include "workflow/asl/internal/run/program.h"
#include "workflow/asl/internal/run/words.h"
#include "workflow/asl/read.h"

namespace sluice::workflow::asl {

namespace {

constexpr auto express_seconds_max = std::uint64_t{300};

Value state_trigger(const Machine& machine, StateNumber number) {
    auto id = internal::run::handle_of(machine, number);
    auto on = [&](std::string_view type) {
        return Value::object({{"type", type}, {"subject", id}});
    };
    auto patterns = std::vector<Value>{on(words::entered), on("sluice.timer.fired")};
    auto kind = machine.states[number].kind;
    if (kind == Kind::Task || kind == Kind::Map) {
        patterns.push_back(on("sluice.task.*"));
    }
    if (kind == Kind::Task) {
        patterns.push_back(on("sluice.run.*"));
    }
    auto params = Value::object({{"state", static_cast<std::int64_t>(number)},
                                 {"machine", static_cast<std::int64_t>(machine.states.size())}});
    return Value::object({{"id", id},
                          {"on", Value::list(std::move(patterns))},
                          {"action", Value::object({{std::string{words::state_term}, params}})},
                          {"lifetime", "persistent"}});
}

/// Nothing: it may take any time.
std::optional<std::uint64_t> timeout_of(const Machine& machine, const CompileOptions& options) {
    if (!options.is_express) {
        return machine.timeout_seconds;
    }
    return std::min(machine.timeout_seconds.value_or(express_seconds_max), express_seconds_max);
}

std::vector<Value> states_without_activity(const Machine& machine, const CompileOptions& options) {
    auto numbers = std::vector<Value>{};
    for (auto number = StateNumber{0}; options.has_mock && number < machine.states.size();
         ++number) {
        const auto& state = machine.states[number];
        const auto* task = std::get_if<TaskState>(&state.details);
        if (task != nullptr && task->service == "activity" && !options.has_mock(state.name)) {
            numbers.emplace_back(static_cast<std::int64_t>(number));
        }
    }
    return numbers;
}

} // namespace

raw::Definition compile(const Value& form, const CompileOptions& options) {
    auto machine = read(form, {.is_express = options.is_express});
    INVARIANT(machine.has_value(), "only what was read without problems is compiled");
    auto triggers = std::vector<Value>{};
    for (auto number = StateNumber{0}; number < (*machine)->states.size(); ++number) {
        triggers.push_back(state_trigger(**machine, number));
    }
    auto params = Value::object({{"definition", form}});
    if (options.is_express) {
        params = params.with("express", true);
    }
    if (!options.account.empty()) {
        params = params.with("account", options.account);
    }
    if (options.is_mocked) {
        params = params.with("mocked", true);
    }
    if (options.is_tried) {
        params = params.with("tried", true);
    }
    if (auto states = states_without_activity(**machine, options); !states.empty()) {
        params = params.with("absent", Value::list(std::move(states)));
    }
    if (options.events_max > 0) {
        params = params.with("events", static_cast<std::int64_t>(options.events_max));
    }
    triggers.push_back(
        Value::object({{"id", "(machine)"},
                       {"on", Value::list({"sluice.run.started", "sluice.run.reopened"})},
                       {"action", Value::object({{std::string{words::machine_term}, params}})},
                       {"lifetime", "persistent"}}));
    auto set = Value::object({{"name", options.name},
                              {"triggers", Value::list(std::move(triggers))},
                              {"unmatched", "drop"}});
    if (auto seconds = timeout_of(**machine, options)) {
        set = set.with("timeout", fmt::format("{}s", *seconds));
    }
    return {
        .name = options.name, .language = "asl", .form = std::move(set), .input = Value::map({})};
}

} // namespace sluice::workflow::asl
