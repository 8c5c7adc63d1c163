#pragma once

#include <string>

#include "sluice/exit_code.h"

namespace sluice::app {

struct RestoreOptions {
    std::string backup;
    std::string data;
    bool is_json = false;
};

/// Holds a backup against its manifest and checksums, and makes a data directory of it.
ExitCode restore(const RestoreOptions& options);

} // namespace sluice::app
