#pragma once

#include <cstdint>

#include "base/clock.h"
#include "event/sink.h"

namespace sluice::connector::builtin {

/// What a function answers, and how long it takes to do so.
struct Reply {
    Nanos delay{0};
    event::Answer answer;
};

/// Calls `echo`, `noop`, `sleep`, `fail` or `flaky`. Pure: the same seed and delivery give the same
/// reply.
///
/// Input that a function cannot use is answered with the kind `invalid_input`, a name it does not
/// know with `unknown_function`.
Reply call(const event::Delivery& delivery, std::uint64_t seed);

/// The same in a simulation, where `sleep` takes its time scaled. A function of any other name
/// takes the `seconds` of its input, scaled, or no time, and answers the `outputs` of its input, or
/// all of it.
Reply simulate(const event::Delivery& delivery, std::uint64_t seed, double time_scale);

} // namespace sluice::connector::builtin
