#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "reactor/command.h"
#include "reactor/file_descriptor.h"

namespace sluice::reactor::internal {

/// A running child that leads a process group of its own, and our ends of its pipes, which never
/// block.
struct Child {
    pid_t pid = 0;
    FileDescriptor exit; ///< A pidfd: readable once the child has exited.
    FileDescriptor input;
    FileDescriptor output;
    FileDescriptor errors;
};

/// Fails with NotFound when there is no such program or directory, with Unavailable when the system
/// has no room for it. The child gets its three pipes and no other descriptor of ours, and all
/// signals as by default.
Result<Child> spawn(const Command& command);

} // namespace sluice::reactor::internal
