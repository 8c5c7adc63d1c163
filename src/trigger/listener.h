#pragma once

#include "trigger/arrival.h"
#include "value/value.h"

namespace sluice::trigger {

/// Hears what a language has to tell of its decisions beyond the changes that are recorded, such as
/// the execution history of a state machine. Nobody listens in normal running: a run's history is
/// decided again for it.
class Listener {
public:
    virtual ~Listener() = default;
    virtual void hear(const Moment& moment, const Value& told) = 0;
};

} // namespace sluice::trigger
