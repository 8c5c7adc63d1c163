#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"

namespace sluice::reactor {

/// Where this process may make control groups that bound memory and processors.
struct ControlGroup {
    enum class Version : std::uint8_t { None, One, Two };

    Version version = Version::None;
    std::filesystem::path memory{};
    std::filesystem::path cpu{}; ///< The same folder in version 2.

    bool operator==(const ControlGroup&) const = default;
};

/// The group that this process is in. In version 2 it moves itself into a group of its own there,
/// since one with processes of its own cannot hand limits down; version 1 knows no such rule.
///
/// Fails with Unsupported, saying why: no controllers, not delegated to us, or shared with others.
Result<ControlGroup> find_control_group(
    const std::filesystem::path& mount = "/sys/fs/cgroup",
    const std::filesystem::path& membership = "/proc/self/cgroup");

} // namespace sluice::reactor
