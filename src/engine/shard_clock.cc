#include "engine/shard_clock.h"

#include <algorithm>

namespace sluice::engine {

void ShardClock::start(const Mark& last) {
    auto wall = clock_.wall();
    auto steady = wall;
    if (last.steady != Time{}) {
        steady = last.steady + std::max(Nanos{0}, wall - last.civil);
    }
    offset_ = steady.time_since_epoch() - clock_.steady();
    last_ = {.time = last.civil, .steady = last.steady};
}

trigger::Moment ShardClock::now() {
    last_.time = std::max(last_.time, clock_.wall());
    last_.steady = std::max(last_.steady, Time{offset_ + clock_.steady()});
    return last_;
}

} // namespace sluice::engine
