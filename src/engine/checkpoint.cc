#include "engine/checkpoint.h"

#include <limits>

#include "trigger/state_image.h"

namespace sluice::engine {

namespace {

constexpr auto checkpoint_format = std::uint8_t{1};

} // namespace

CheckpointMark write_checkpoint(const trigger::RunState& state, ShardId shard, const RunName& run,
                                trigger::Moment moment, store::Batch& batch) {
    auto image = trigger::encode_image(state);
    auto record = std::string{};
    record.reserve(image.size() + 32);
    auto out = Encoder{record};
    out.u8(checkpoint_format);
    out.svarint(moment.time.time_since_epoch().count());
    out.svarint(moment.steady.time_since_epoch().count());
    out.raw(image);
    auto event = state.progress.events;
    batch.put(keys::checkpoint(shard, run, event), record);
    return {.event = event, .image_bytes = image.size()};
}

Result<std::optional<Checkpoint>> checkpoint_at(const store::Store& store, ShardId shard,
                                                const RunName& run, trigger::EventNumber event) {
    auto prefix = keys::checkpoints_of(shard, run);
    auto cursor = store.scan(keys::checkpoint(shard, run, event.raw()), keys::end_of(prefix));
    if (!cursor->is_valid()) {
        TRY(cursor->status());
        return std::nullopt;
    }
    auto key = Decoder{cursor->key().substr(prefix.size())};
    auto in = Decoder{cursor->value()};
    auto found = Checkpoint{.event = trigger::EventNumber{~TRY(key.u64())}};
    TRY(in.format(checkpoint_format, "checkpoint"));
    found.moment.time = Time{Nanos{TRY(in.svarint())}};
    found.moment.steady = Time{Nanos{TRY(in.svarint())}};
    found.image = std::string{in.rest()};
    return found;
}

Result<CheckpointMark> last_checkpoint(const store::Store& store, ShardId shard,
                                       const RunName& run) {
    constexpr auto last = trigger::EventNumber{std::numeric_limits<std::uint64_t>::max()};
    auto found = TRY(checkpoint_at(store, shard, run, last));
    return found ? CheckpointMark{.event = found->event.raw(), .image_bytes = found->image.size()}
                 : CheckpointMark{};
}

std::vector<std::pair<std::string, std::string>> ranges_before(ShardId shard, const RunName& run,
                                                               std::uint64_t event) {
    // Earlier checkpoints sort behind later ones.
    return {
        {keys::history(shard, run, 0), keys::history(shard, run, event + 1)},
        {keys::checkpoint(shard, run, event - 1), keys::end_of(keys::checkpoints_of(shard, run))}};
}

} // namespace sluice::engine
