#pragma once

#include "base/result.h"
#include "event/codec.h"
#include "event/producer.h"
#include "event/sink.h"

namespace sluice::connector::broker {

/// The event that a call puts on a bus: its input, a map of attributes and `data`. Id and source
/// come from the call where the input has none, and are the same for every attempt.
///
/// Fails with InvalidInput or LimitExceeded for what is no event.
Result<event::Outgoing> outgoing_of(const event::Delivery& delivery, event::Codec& codec);

} // namespace sluice::connector::broker
