#pragma once

#include <chrono>

#include "reactor/file_descriptor.h"

namespace sluice::app {

/// Wakes whoever waits, from any thread and from a signal handler.
class Bell {
public:
    Bell();

    void ring() const noexcept;
    /// Until it rings or this long has passed.
    void wait(std::chrono::milliseconds at_most) const;
    /// Readable while it rings and nobody has waited.
    int descriptor() const;

private:
    reactor::FileDescriptor descriptor_;
};

} // namespace sluice::app
