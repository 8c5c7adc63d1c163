#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "value/value.h"
#include "workflow/asl/internal/run/frame.h"
#include "workflow/asl/machine.h"

namespace sluice::workflow::asl::internal::run {

/// A state from its being entered to its being left, over all its attempts. What it is while it
/// waits is the memory of its trigger: docs/formats/state-machines.md.
struct Visit {
    Visit(const Machine& machine, StateNumber at_state, Frame& in)
        : number(at_state), state(machine.states[at_state]), frame(in) {}

    StateNumber number;
    const State& state;
    Frame& frame;
    Value input;                      ///< As it came.
    std::uint64_t entered = 0;        ///< The event that tells of it.
    std::uint64_t before = 0;         ///< The event that led to it.
    Time at{};                        ///< When.
    std::vector<std::uint32_t> tries; ///< Of each retrier, as far as any was used.
    std::uint32_t retries = 0;
    std::string token;         ///< Of a task that is answered by one.
    Value nested;              ///< The execution that it waits for; null: none.
    std::uint64_t timer = 0;   ///< Of the wait, the timeout or the next attempt; zero: none.
    std::uint64_t pulse = 0;   ///< Of the heartbeat.
    std::uint64_t seconds = 0; ///< Between heartbeats.
    bool is_begun = false;     ///< Somebody has taken up its work: of an activity.
    bool is_stored = false;    ///< Its trigger remembers it.
    bool is_kept = false;      ///< Of a map run that a redrive goes on with.

    Value to_memory(std::string_view status) const;
    /// What it was when it began to wait; its frame's last event too.
    void restore(const Value& memory);
};

std::uint64_t count_at(const Value& map, std::string_view name);
std::optional<std::string> text_in(const Value& map, std::string_view name);
Value as_value(std::uint64_t count);

} // namespace sluice::workflow::asl::internal::run
