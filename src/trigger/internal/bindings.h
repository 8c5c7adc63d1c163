#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "event/event.h"
#include "expr/program.h"
#include "trigger/arrival.h"
#include "trigger/run_triggers.h"
#include "trigger/state.h"

namespace sluice::trigger {

/// What expressions of a trigger see: docs/reference/triggers.md lists the names. Looks things up
/// only when asked.
class RunBindings final : public expr::Bindings {
public:
    RunBindings(const RunState& state, const RunTriggers& triggers, const event::Event& event,
                Moment moment, TriggerNumber trigger, Incarnation scope)
        : state_(state),
          triggers_(triggers),
          event_(event),
          moment_(moment),
          trigger_(trigger),
          scope_(scope) {}

    std::optional<Value> resolve(std::span<const std::string_view> path) const override;

    /// The item a long action is at.
    void set_item(std::uint64_t index, Value item);

private:
    std::optional<Value> resolve_event(std::span<const std::string_view> path) const;
    std::optional<Value> resolve_run(std::span<const std::string_view> path) const;
    std::optional<Value> resolve_trigger(TriggerNumber number,
                                         std::span<const std::string_view> path) const;
    std::optional<Value> resolve_scope(std::span<const std::string_view> path) const;

    const RunState& state_;
    const RunTriggers& triggers_;
    const event::Event& event_;
    Moment moment_;
    TriggerNumber trigger_;
    Incarnation scope_;
    std::optional<std::uint64_t> index_;
    Value item_;
};

/// Attributes and data as one map.
Value as_value(const event::Event& event);

/// The context of a trigger in a scope: what it remembers, else what its spec gives.
const Value& memory_of(const RunState& state, const CompiledTrigger& trigger, TriggerNumber number,
                       Incarnation scope);
bool is_enabled(const RunState& state, const CompiledTrigger& trigger, TriggerNumber number,
                Incarnation scope);

} // namespace sluice::trigger
