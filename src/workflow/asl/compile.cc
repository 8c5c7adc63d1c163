#include "workflow/asl/compile.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/invariant.h"
#include "workflow/asl/internal/run/program.h"
#include "workflow/asl/internal/run/words.h"
#include "workflow/asl/read.h"

namespace sluice::workflow::asl {

namespace {

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
    triggers.push_back(
        Value::object({{"id", "(machine)"},
                       {"on", Value::list({"sluice.run.started", "sluice.run.reopened"})},
                       {"action", Value::object({{std::string{words::machine_term}, params}})},
                       {"lifetime", "persistent"}}));
    auto set = Value::object({{"name", options.name},
                              {"triggers", Value::list(std::move(triggers))},
                              {"unmatched", "drop"}});
    if ((*machine)->timeout_seconds) {
        set = set.with("timeout", fmt::format("{}s", *(*machine)->timeout_seconds));
    }
    return {
        .name = options.name, .language = "asl", .form = std::move(set), .input = Value::map({})};
}

} // namespace sluice::workflow::asl
