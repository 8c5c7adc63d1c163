#pragma once

#include <filesystem>
#include <memory>

#include "store/embedded/options.h"
#include "store/store.h"

namespace sluice::store::embedded {

/// The store that the durability asks for: one in the directory, or one in memory that leaves it
/// alone.
Result<std::unique_ptr<Store>> open_store(const std::filesystem::path& path, Options options = {});

} // namespace sluice::store::embedded
