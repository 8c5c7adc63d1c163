#pragma once

#include <string_view>

#include "trigger/state.h"

/// What a run and the standing run of its definition say to each other about the run's place.
namespace sluice::trigger::places {

inline constexpr std::string_view kind = "definition"; ///< Of the standing run.
inline constexpr std::string_view given = "given";
inline constexpr std::string_view withdrawn = "withdrawn"; ///< Or refused: the run is to end.

/// The run that asked, as the sender of its request.
inline Sender asker(std::string_view run, std::uint64_t asked) {
    return {.run = std::string{run},
            .key = {.fire = FireNumber{0}, .index = asked},
            .scope = root_scope,
            .trigger = place_trigger};
}

} // namespace sluice::trigger::places
