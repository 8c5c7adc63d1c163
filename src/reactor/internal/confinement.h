#pragma once

#include <filesystem>

#include <sys/types.h>

#include "reactor/command.h"

namespace sluice::reactor::internal {

/// Holds a child to its limits: by a control group of its own below `parent`, or, where there is
/// none or it cannot be made, by rlimits, which count address space in place of memory and know no
/// share of a processor.
///
/// Destroyed when the child has been waited for, it kills whoever is left in the group and removes
/// it.
class Confinement {
public:
    static Confinement of(pid_t child, const ResourceLimits& limits,
                          const std::filesystem::path& parent);
    ~Confinement();
    Confinement(Confinement&& other) noexcept;
    Confinement& operator=(Confinement&& other) noexcept;

    /// Whether one of the group was killed because there was no more memory for it.
    bool was_memory_full() const;

private:
    Confinement() = default;

    std::filesystem::path group_; ///< Empty: none.
};

} // namespace sluice::reactor::internal
