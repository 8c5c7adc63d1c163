#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::store::internal {

/// A new file with these bytes, synced. NoSpace when they do not fit.
Result<void> write_synced(const std::filesystem::path& path, std::string_view bytes);
/// NotFound when there is no such file.
Result<std::string> read_whole(const std::filesystem::path& path);
/// So that what was renamed into it stays there.
Result<void> sync_directory(const std::filesystem::path& path);

} // namespace sluice::store::internal
