#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/clock.h"
#include "base/random.h"

namespace sluice::connector::amqp::internal {

/// How long to wait before the next attempt: twice as long each time, within bounds, and somewhat
/// by chance, so that many do not come at once.
class BackOff {
public:
    explicit BackOff(std::uint64_t seed) : random_(seed) {}

    Nanos next() {
        auto wait = wait_;
        wait_ = std::min(wait_ * 2, wait_max);
        return wait / 2 + Nanos{static_cast<std::int64_t>(
                              random_.below(static_cast<std::uint64_t>(wait.count() / 2)))};
    }
    void reset() { wait_ = wait_min; }

private:
    static constexpr auto wait_min = Nanos{std::chrono::milliseconds{100}};
    static constexpr auto wait_max = Nanos{std::chrono::seconds{3}};

    Random random_;
    Nanos wait_ = wait_min;
};

} // namespace sluice::connector::amqp::internal
