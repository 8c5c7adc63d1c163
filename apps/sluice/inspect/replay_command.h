#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sluice/exit_code.h"

namespace sluice::app {

struct ReplayOptions {
    std::string data;
    std::string run;
    std::optional<std::uint64_t> at; ///< Show the state right after this event instead.
    std::uint64_t from =
        0; ///< Begin at the last checkpoint at or before this event; 0: at the first.
    bool is_json = false;
};

/// Decides a run's history again and tells where this software differs from what was recorded.
ExitCode replay(const ReplayOptions& options);

} // namespace sluice::app
