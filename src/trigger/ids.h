#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/strong.h"
#include "base/utf8.h"

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
/// No scope: the whole run is held under it while an operator has paused it, whatever its triggers
/// hold.
inline constexpr auto paused_run = Incarnation{~std::uint64_t{0}};
/// Stands for whoever gives a run commands from outside: it has a trigger's place but no state.
inline constexpr auto command_trigger = TriggerNumber{0xFFFF'FFFF};

/// Stands for a run itself where it asks the standing run of its definition for a place.
inline constexpr auto place_trigger = TriggerNumber{0xFFFF'FFFE};

/// Nested runs append to their parent's id, so this leaves room in keys (255 bytes) for none beyond
/// it.
inline constexpr auto run_id_bytes_max = std::size_t{250};

/// 1 to 250 bytes of UTF-8 without spaces, slashes and controls. What stands before a `~` is the
/// placement key: runs that share it lie on one shard.
inline bool is_run_id(std::string_view id) {
    if (id.empty() || id.size() > run_id_bytes_max) {
        return false;
    }
    auto seen = 0U;
    for (auto c : id) {
        auto byte = static_cast<unsigned char>(c);
        seen |= byte;
        if (byte <= 0x20 || byte == '/' || byte == 0x7F) {
            return false;
        }
    }
    return seen < 0x80 || is_utf8(id);
}

/// A run without end that other runs share, started on first use: `definition/nightly`. No caller
/// or author can name one.
inline std::string standing_run_id(std::string_view kind, std::string_view name) {
    return std::string{kind}.append("/").append(name);
}
inline bool is_standing_run_id(std::string_view id) {
    return id.find('/') != std::string_view::npos;
}

/// Of the standing run of a definition: it gives its runs their places.
inline constexpr std::string_view admit_action = "definition.admit";

enum class Placement : std::uint8_t { Beside, Spread };

/// The id of a run that a task starts: `parent~fire.index` on the parent's shard, or one with a
/// placement key of its own that ends in `~spread`.
std::string nested_run_id(std::string_view parent, FireNumber fire, std::uint64_t index,
                          Placement placement);
/// Of a form that only nested runs have.
bool is_nested_run_id(std::string_view id);
bool is_spread(std::string_view nested);
/// In words, for who gave another.
inline constexpr auto given_run_id_rule = std::string_view{
    "1 to 250 bytes of UTF-8 without spaces, slashes and controls, that neither begin nor end with "
    "~ nor end as those of nested runs do (~1.0, ~spread)"};
/// An id that a caller or an author may choose: none that a nested run could have.
bool is_given_run_id(std::string_view id);

} // namespace sluice::trigger
