#pragma once

#include <filesystem>

namespace sluice::store::embedded {

/// Whether files in a folder can be written past the page cache: not every file system lets us.
/// Tried with one that has no name.
bool takes_direct_writes(const std::filesystem::path& folder);

} // namespace sluice::store::embedded
