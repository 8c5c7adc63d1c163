#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "store/embedded/internal/wal_scan.h"
#include "store/embedded/report.h"

namespace sluice::store::embedded {

/// What a look at the files of a closed store says before RocksDB may touch them. The directory is
/// locked meanwhile.
struct Findings {
    bool is_new = false; ///< No store was ever finished here: it may be created.
    std::vector<Cut> cuts;
    std::vector<LogFault> faults;
};

/// Reads the write-ahead logs and the manifest. Fails only when a file cannot be read.
Result<Findings> examine(const std::filesystem::path& path);

/// Cuts the files and syncs them.
Result<void> apply_cuts(const std::filesystem::path& path, const std::vector<Cut>& cuts);

/// The cuts that make the logs readable again, at the price of everything from the first fault on.
Result<std::vector<Cut>> cuts_at_faults(const std::filesystem::path& path,
                                        const Findings& findings);

} // namespace sluice::store::embedded
