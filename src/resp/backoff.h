#pragma once

#include <algorithm>

#include "base/clock.h"
#include "base/random.h"

namespace sluice::resp {

/// How long to wait before trying again: longer each time, and never the same for two who lost
/// their server at once.
class Backoff {
public:
    struct Bounds {
        Nanos least = std::chrono::milliseconds{10};
        Nanos most = std::chrono::seconds{1};
    };

    Backoff(std::uint64_t seed, Bounds bounds) : random_(seed), bounds_(bounds) {}

    /// Between half and all of a time that doubles.
    Nanos next() {
        auto whole = std::clamp(next_, bounds_.least, bounds_.most);
        next_ = whole * 2;
        return whole / 2 + Nanos{static_cast<std::int64_t>(
                               random_.below(static_cast<std::uint64_t>(whole.count() / 2)))};
    }
    void reset() { next_ = Nanos{0}; }

private:
    Random random_;
    Bounds bounds_;
    Nanos next_{0};
};

} // namespace sluice::resp
