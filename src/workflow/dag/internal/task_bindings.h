#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expr/program.h"
#include "trigger/arrival.h"
#include "trigger/run_triggers.h"
#include "trigger/state.h"

namespace sluice::workflow::dag::internal {

/// What a task remembers in a scope; null when it has not begun.
const Value& memory_of(const trigger::RunState& state, trigger::Incarnation scope,
                       trigger::TriggerNumber task);
/// `succeeded`, …; `pending` when it has not begun.
std::string_view status_of(const Value& memory);

/// The path without its last parts: two of them lie between a task and the body around it.
std::string_view outer_path(std::string_view path, int parts);

/// What the expressions of a task may ask for: `input`, `tasks`, `context`, `run`, `now`, and the
/// variables of the scopes around it.
class TaskBindings final : public expr::Bindings {
public:
    /// All of them must outlive it.
    TaskBindings(const trigger::RunState& state, const trigger::RunTriggers& triggers,
                 trigger::Moment moment, trigger::Incarnation scope,
                 const std::vector<std::string>& prefixes)
        : state_(state), triggers_(triggers), moment_(moment), scope_(scope), prefixes_(prefixes) {}

    /// A name that stands for this value here.
    void bind(std::string name, Value value);
    std::optional<Value> resolve(std::span<const std::string_view> path) const override;

private:
    std::optional<Value> resolve_run(std::span<const std::string_view> path) const;
    std::optional<Value> resolve_tasks(std::span<const std::string_view> path) const;
    std::optional<Value> resolve_variable(std::span<const std::string_view> path) const;
    Value all_tasks() const;

    const trigger::RunState& state_;
    const trigger::RunTriggers& triggers_;
    trigger::Moment moment_;
    trigger::Incarnation scope_;
    const std::vector<std::string>& prefixes_;
    std::vector<std::pair<std::string, Value>> bound_;
};

} // namespace sluice::workflow::dag::internal
