#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "sluice/exit_code.h"
#include "store/embedded/embedded_store.h"

namespace sluice::app {

struct StoreOptions {
    std::string data;
    bool is_json = false;
};

/// Holds every file of a store and of its objects against its checksums.
Result<store::embedded::CheckReport> check_data(const std::filesystem::path& data);
ExitCode check_store(const StoreOptions& options);
/// Every key and value as a JSON line: the key in hex with its shard and table, the value in
/// base64. Then every object.
ExitCode export_store(const StoreOptions& options);

} // namespace sluice::app
