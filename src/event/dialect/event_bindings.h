#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "event/event.h"
#include "event/event_view.h"
#include "expr/program.h"

namespace sluice::event {

/// `event` with its attributes and data, and `data` itself. The event must outlive it.
class EventBindings final : public expr::Bindings {
public:
    explicit EventBindings(const Event& event) : view_{event} {}

    std::optional<Value> resolve(std::span<const std::string_view> path) const override {
        return view_.at(path);
    }

private:
    mutable EventView view_; ///< Reads on, behind what was asked for already.
};

/// Each attribute by its own name, as CESQL sees an event.
class AttributeBindings final : public expr::Bindings {
public:
    explicit AttributeBindings(const Event& event) : event_{event} {}

    std::optional<Value> resolve(std::span<const std::string_view> path) const override {
        return path.size() == 1 ? event_.attribute(path.front()) : std::nullopt;
    }

private:
    const Event& event_;
};

} // namespace sluice::event
