#pragma once

#include <filesystem>
#include <vector>

#include <sys/types.h>

#include "reactor/command.h"

namespace sluice::reactor::internal {

/// Holds a child to its limits: by control groups of its own below `parent`, or, where there are
/// none or they cannot be made, by rlimits, which count address space in place of memory and know
/// no share of a processor.
///
/// Destroyed when the child has been waited for, it kills whoever is left in its groups and removes
/// them.
class Confinement {
public:
    static Confinement of(pid_t child, const ResourceLimits& limits, const ControlGroup& parent);
    ~Confinement();
    Confinement(Confinement&& other) noexcept;
    Confinement& operator=(Confinement&& other) noexcept;

    /// Whether one of the group was killed because there was no more memory for it.
    bool was_memory_full() const;

private:
    Confinement() = default;

    std::vector<std::filesystem::path> groups_; ///< That of memory first. Empty: none.
    ControlGroup::Version version_ = ControlGroup::Version::None;
};

} // namespace sluice::reactor::internal
