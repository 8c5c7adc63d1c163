#pragma once

#include <chrono>

namespace sluice {

using Nanos = std::chrono::nanoseconds;
/// A point of civil time, UTC, as events and timers carry it.
using Time = std::chrono::sys_time<Nanos>;

/// Where time comes from. Handed in, so that tests and the simulator own it.
class Clock {
public:
    virtual ~Clock() = default;
    /// Civil time; may jump either way.
    virtual Time wall() const = 0;
    /// Since some fixed moment of this process; never goes back.
    virtual Nanos steady() const = 0;
};

/// The machine's clocks.
class SystemClock final : public Clock {
public:
    Time wall() const override;
    Nanos steady() const override;
};

} // namespace sluice
