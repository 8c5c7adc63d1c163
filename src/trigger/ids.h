#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/strong.h"

namespace sluice::trigger {

/// A trigger's place in its run: first those of the trigger set in order of creation, then those
/// added.
using TriggerNumber = Strong<struct TriggerNumberTag, std::uint32_t>;
/// One opening of a scope, unique in the run and never reused. The root's is 0.
using Incarnation = Strong<struct IncarnationTag, std::uint64_t>;
/// Counts the firings of a run; never reused.
using FireNumber = Strong<struct FireNumberTag, std::uint64_t>;
/// Counts the events a run has taken: an event's place in its history.
using EventNumber = Strong<struct EventNumberTag, std::uint64_t>;
/// Counts the timers a run has set.
using TimerNumber = Strong<struct TimerNumberTag, std::uint64_t>;

inline constexpr auto root_scope = Incarnation{0};
/// Stands for whoever gives a run commands from outside: it has a trigger's place but no state.
inline constexpr auto command_trigger = TriggerNumber{0xFFFF'FFFF};

/// Nested runs append to their parent's id, so this leaves room in keys (255 bytes) for none beyond
/// it.
inline constexpr auto run_id_bytes_max = std::size_t{250};

/// 1 to 250 bytes without spaces, slashes and controls.
inline bool is_run_id(std::string_view id) {
    if (id.empty() || id.size() > run_id_bytes_max) {
        return false;
    }
    for (auto c : id) {
        auto byte = static_cast<unsigned char>(c);
        if (byte <= 0x20 || byte == '/' || byte == 0x7F) {
            return false;
        }
    }
    return true;
}

} // namespace sluice::trigger
