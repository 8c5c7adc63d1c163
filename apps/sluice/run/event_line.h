#pragma once

#include <string>
#include <string_view>

#include "event/codec.h"

namespace sluice::app {

/// A line with one CloudEvent, which gets the run as its `run` where it names none. Fails with
/// InvalidInput, also for types that only the engine may use.
Result<event::Event> read_event_line(event::Codec& codec, std::string_view line,
                                     const std::string& run);

/// Nothing but spaces.
bool is_blank(std::string_view line);

} // namespace sluice::app
