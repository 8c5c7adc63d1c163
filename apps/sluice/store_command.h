#pragma once

#include <string>

#include "sluice/exit_code.h"

namespace sluice::app {

struct StoreOptions {
    std::string data;
    bool is_json = false;
};

/// Holds every file of a store against its checksums.
ExitCode check_store(const StoreOptions& options);
/// Every key and value as a JSON line: the key in hex with its shard and table, the value in
/// base64.
ExitCode export_store(const StoreOptions& options);

} // namespace sluice::app
