#pragma once

#include <chrono>

#include "base/clock.h"

namespace sluice::connector::nats::internal {

/// The library's threads and time limits follow the machine's clock, and so do ours.
inline Nanos steady_now() {
    return std::chrono::steady_clock::now().time_since_epoch();
}

} // namespace sluice::connector::nats::internal
