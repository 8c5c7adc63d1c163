#include "engine/internal/shard_clock.h"

#include <algorithm>

namespace sluice::engine {

namespace {

// A wall clock that is further off was set, and did not drift.
constexpr auto drift_max = Nanos{std::chrono::minutes{1}};
// Time runs by at most one part in this many faster or slower than the monotonic clock.
constexpr auto slew_parts = 10;

Nanos slewed(Nanos gap, Nanos passed) {
    auto most = passed / slew_parts;
    return std::clamp(gap, -most, most);
}

} // namespace

void ShardClock::start(const Mark& last) {
    wall_ = clock_.wall();
    ticks_ = clock_.steady();
    last_ = {.time = wall_, .steady = wall_};
    if (last.steady != Time{}) {
        // The monotonic clock may have begun anew: only the wall clock knows how long that took.
        auto passed = std::max(Nanos{0}, wall_ - last.wall);
        last_ = {.time = last.civil + passed, .steady = last.steady + passed};
    }
    offset_ = wall_ - last_.steady;
}

trigger::Moment ShardClock::now() {
    wall_ = clock_.wall();
    auto ticks = clock_.steady();
    auto passed = std::max(Nanos{0}, ticks - ticks_);
    ticks_ = ticks;

    auto ahead = wall_ - (last_.time + passed);
    last_.time += passed + (ahead > drift_max ? ahead : slewed(ahead, passed));

    auto drift = wall_ - (last_.steady + passed + offset_);
    if (drift > drift_max || drift < -drift_max) {
        offset_ += drift;
        drift = Nanos{0};
    }
    last_.steady += passed + slewed(drift, passed);
    return last_;
}

} // namespace sluice::engine
