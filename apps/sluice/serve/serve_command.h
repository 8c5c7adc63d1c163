#pragma once

#include <string>

#include "sluice/exit_code.h"
#include "sluice/serve/configuration_source.h"
#include "sluice/serve/serving.h"

namespace sluice::app {

struct ServeOptions {
    std::string config;               ///< A file; empty: none.
    ConfigurationSource::Texts flags; ///< By the names of settings.
    bool shows_config = false;        ///< And does nothing else.
    bool is_json = false;             ///< What it shows or tells, as JSON.
    Part part = Part::All;
};

/// Serves until it is asked to stop; then answers what was asked, commits, and goes.
ExitCode serve(ServeOptions options);

} // namespace sluice::app
