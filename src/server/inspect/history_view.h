#pragma once

#include "engine/inspector.h"
#include "trigger/history.h"
#include "value/value.h"

namespace sluice::server::inspect {

enum class EntryDetail : std::uint8_t { Event, Changes };

/// An event of a history, with what it did if that is asked for.
Value entry_view(const trigger::Entry& entry, EntryDetail detail);
Value replay_view(const engine::ReplayReport& report);

} // namespace sluice::server::inspect
