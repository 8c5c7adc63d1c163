#pragma once

#include <string>

#include "sluice/exit_code.h"

namespace sluice::app {

struct WhyOptions {
    std::string data;
    std::string run;
    std::string event; ///< An id, or `#` and a number; empty: the run itself.
    bool is_json = false;
};

/// What happened to an event, or why a run stands where it stands, in sentences.
ExitCode why(const WhyOptions& options);

} // namespace sluice::app
