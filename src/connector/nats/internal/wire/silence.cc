#include "connector/nats/internal/wire/silence.h"

namespace sluice::connector::nats::internal::wire {

namespace {

// As of the library's connections.
constexpr auto ping_interval = Nanos{std::chrono::seconds{10}};
constexpr auto pings_max = 2;

} // namespace

Silence::Verdict Silence::check(Nanos now) {
    if (now - since_ < ping_interval) {
        return Verdict::Wait;
    }
    if (pings_ == pings_max) {
        return Verdict::Lost;
    }
    since_ = now;
    ++pings_;
    return Verdict::Ping;
}

} // namespace sluice::connector::nats::internal::wire
