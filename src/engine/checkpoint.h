#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/keys.h"
#include "store/store.h"
#include "trigger/arrival.h"
#include "trigger/state.h"

namespace sluice::engine {

/// A run's state right after one of its events: history can be read from here without what came
/// before. Ids seen are not part of it, as they are none of history.
struct Checkpoint {
    trigger::EventNumber event;
    trigger::Moment moment; ///< Of the event.
    std::string image;      ///< trigger/state_image.h
};

/// What the next one depends on: the last one's event, 0 when there is none, and its size.
struct CheckpointMark {
    std::uint64_t event = 0;
    std::size_t image_bytes = 0;

    /// An image is no larger than the history since the last one, roughly: a large state is written
    /// less often.
    bool is_due(std::uint64_t events, std::uint64_t interval) const {
        return events >= event + interval + image_bytes / 128;
    }
};

/// Puts the state as it stands at the end of a batch.
CheckpointMark write_checkpoint(const trigger::RunState& state, ShardId shard, const RunName& run,
                                trigger::Moment moment, store::Batch& batch);

/// The last one at or before an event. Fails with Corrupt.
Result<std::optional<Checkpoint>> checkpoint_at(const store::Store& store, ShardId shard,
                                                const RunName& run, trigger::EventNumber event);
/// The last one of all.
Result<CheckpointMark> last_checkpoint(const store::Store& store, ShardId shard,
                                       const RunName& run);

/// What nobody needs who has this checkpoint: history up to it, and checkpoints before.
std::vector<std::pair<std::string, std::string>> ranges_before(ShardId shard, const RunName& run,
                                                               std::uint64_t event);

} // namespace sluice::engine
