#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/input.h"
#include "event/source.h"
#include "store/store.h"

namespace sluice::engine {

using Post = std::function<void(Input&&)>;

/// Hands events to the shards of their runs; `done` hears of all of them, in their order, once all
/// are durable. Events without a run, or of a type that is the engine's own, are refused before any
/// is taken.
void send_events(std::string space, std::vector<event::Event> events, std::uint16_t shard_count,
                 Accepted done, const Post& post);

/// Reads a source to its end, each partition from its position in the store, and confirms what is
/// durable. Gives the number of events. `push` waits while a lane is busy.
Result<std::uint64_t> feed_source(event::Source& source, const std::string& space,
                                  const store::Store& store, const Post& push);

} // namespace sluice::engine
