#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "observe/diagnostics.h"
#include "store/store.h"

namespace sluice::app {

/// The store that a URL names (redis://, rediss://, postgres://), or the embedded one in the
/// directory where there is no URL. The diagnostics outlive it.
Result<std::unique_ptr<store::Store>> open_store(const std::string& url,
                                                 const std::filesystem::path& data,
                                                 store::Durability durability,
                                                 observe::Diagnostics& diagnostics);

} // namespace sluice::app
