#pragma once

#include <cstdint>

#include "base/clock.h"

namespace sluice::connector::nats::internal::wire {

/// Whether the other side still lives: asked by a PING when nothing was heard, and given up when
/// two of them stayed without an answer. Time in which nobody listened does not count.
class Silence {
public:
    enum class Verdict : std::uint8_t { Wait, Ping, Lost };

    explicit Silence(Nanos now) : since_(now) {}

    void hear(Nanos now) {
        since_ = now;
        pings_ = 0;
    }
    /// To be called when nothing is there to be read; whoever is told to has to send a PING.
    Verdict check(Nanos now);

private:
    Nanos since_; ///< Last heard of it, or asked.
    int pings_ = 0;
};

} // namespace sluice::connector::nats::internal::wire
