#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/input.h"
#include "event/source.h"
#include "store/store.h"

namespace sluice::engine {

using Post = std::function<void(Input&&)>;

/// Fails with InvalidInput when an event from outside names no run, or has a type of the engine's.
Result<void> check_event(const event::Event& event);

/// Hands events to the shards of their runs; `done` hears of all of them, in their order, once all
/// are durable. Events that `check_event` refuses are refused before any is taken.
void send_events(std::string space, std::vector<event::Event> events, std::uint16_t shard_count,
                 Accepted done, const Post& post);

/// The last number that each shard has taken of a partition.
Result<std::vector<std::uint64_t>> positions_of(const store::Store& store,
                                                std::string_view partition);

/// What becomes of an event that names no run: itself once for each run it goes to, or nothing when
/// nobody wants it. Starts the runs that have to be started. An error ends the feed before the
/// event.
using RouteEvent = std::function<Result<std::vector<event::Event>>(const event::Event&)>;

struct FeedOptions {
    std::string space = "default";
    RouteEvent route{};          ///< Empty: every event must name its run.
    bool drops_unrouted = false; ///< What nobody wants is passed over instead of set aside.
};

/// Reads a source to its end or until `stop` is asked for, each partition from the smallest of its
/// positions in the store, and confirms what is durable. Gives the number of events that were not
/// taken before. `push` waits while a lane is busy. A message that is no event goes into
/// quarantine.
///
/// While a run has no room for the next event, its partition waits, until there is room or `stop`
/// is asked for.
Result<std::uint64_t> feed_source(event::Source& source, const FeedOptions& options,
                                  const store::Store& store, const Post& push,
                                  const std::stop_token& stop = {});

} // namespace sluice::engine
