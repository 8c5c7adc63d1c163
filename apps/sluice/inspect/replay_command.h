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
    bool is_json = false;
};

/// Decides a run's history again and tells where this software differs from what was recorded.
ExitCode replay(const ReplayOptions& options);

} // namespace sluice::app
