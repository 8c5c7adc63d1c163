#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "event/event_view.h"
#include "expr/program.h"
#include "trigger/arrival.h"
#include "trigger/run_triggers.h"
#include "trigger/state.h"

namespace sluice::trigger {

/// What expressions of a trigger see: docs/reference/triggers.md lists the names. Looks things up
/// only when asked.
class RunBindings final : public expr::Bindings {
public:
    /// With a view of the event that other triggers have asked, or one of its own.
    RunBindings(const RunState& state, const RunTriggers& triggers, const event::Event& event,
                Moment moment, TriggerNumber trigger, Incarnation scope,
                event::EventView* shared = nullptr)
        : state_(state),
          triggers_(triggers),
          view_(shared == nullptr ? own_view_.emplace(event) : *shared),
          moment_(moment),
          trigger_(trigger),
          scope_(scope) {}

    RunBindings(const RunBindings&) = delete;
    RunBindings& operator=(const RunBindings&) = delete;

    std::optional<Value> resolve(std::span<const std::string_view> path) const override;

    /// The item a long action is at.
    void set_item(std::uint64_t index, Value item);

private:
    std::optional<Value> resolve_run(std::span<const std::string_view> path) const;
    std::optional<Value> resolve_trigger(TriggerNumber number,
                                         std::span<const std::string_view> path) const;
    std::optional<Value> resolve_scope(std::span<const std::string_view> path) const;

    const RunState& state_;
    const RunTriggers& triggers_;
    std::optional<event::EventView> own_view_;
    event::EventView& view_;
    Moment moment_;
    TriggerNumber trigger_;
    Incarnation scope_;
    struct Item {
        std::uint64_t index = 0;
        Value value;
    };
    std::optional<Item> item_;
};

/// The context of a trigger in a scope: what it remembers, else what its spec gives.
const Value& memory_of(const TriggerState* remembered, const CompiledTrigger& trigger);
const Value& memory_of(const RunState& state, const CompiledTrigger& trigger, TriggerNumber number,
                       Incarnation scope);
bool is_enabled(const TriggerState* remembered, const CompiledTrigger& trigger);
bool is_enabled(const RunState& state, const CompiledTrigger& trigger, TriggerNumber number,
                Incarnation scope);

} // namespace sluice::trigger
