#pragma once

#include <filesystem>

#include "base/result.h"

namespace sluice::reactor {

/// The folder below which this process may make control groups (version 2) that bound memory and
/// processors. It moves itself into a group of its own there, since one with processes of its own
/// cannot hand limits down.
///
/// Fails with Unsupported, saying why: no version 2, not delegated to us, or shared with others.
Result<std::filesystem::path> find_control_group(
    const std::filesystem::path& mount = "/sys/fs/cgroup",
    const std::filesystem::path& membership = "/proc/self/cgroup");

} // namespace sluice::reactor
