#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace sluice::reactor::internal {

/// Looks at a flag for a short while, as long as that pays.
///
/// After a few vain spins in a row it looks only now and then, until one succeeds again.
class Spin {
public:
    /// On a machine with a single core it never spins: nobody else could set the flag.
    explicit Spin(Nanos spin_max);

    /// True as soon as the flag is not zero.
    bool until(const std::atomic<std::uint8_t>& flag,
               std::chrono::steady_clock::time_point deadline);

private:
    bool look(const std::atomic<std::uint8_t>& flag,
              std::chrono::steady_clock::time_point end) const;

    Nanos spin_max_;
    std::uint32_t misses_ = 0;
};

} // namespace sluice::reactor::internal
