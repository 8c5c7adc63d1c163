#include "base/clock.h"

namespace sluice {

Time SystemClock::wall() const {
    return std::chrono::time_point_cast<Nanos>(std::chrono::system_clock::now());
}

Nanos SystemClock::steady() const {
    return std::chrono::steady_clock::now().time_since_epoch();
}

} // namespace sluice
