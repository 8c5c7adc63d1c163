#pragma once

#include <memory>
#include <optional>

#include "engine/keys.h"
#include "store/store.h"
#include "trigger/state.h"

namespace sluice::engine {

/// The value of a position, or of how far a stream is.
std::string number_record(std::uint64_t number);
Result<std::uint64_t> read_number(std::string_view record);

/// A run's state in the store: one key for each entity, so that a commit writes what changed.

/// Everything of a run by one scan, and the ids it has seen. Nothing when there is no such run.
/// Fails with Corrupt.
Result<std::unique_ptr<trigger::RunState>> load_run(const store::Store& store, ShardId shard,
                                                    const RunName& run);

/// How far a run is, without the rest of it: one key. Nothing when there is no such run.
Result<std::optional<trigger::RunProgress>> load_progress(const store::Store& store, ShardId shard,
                                                          const RunName& run);

/// Puts what is dirty into the batch and marks the state clean.
void write_dirty(trigger::RunState& state, ShardId shard, const RunName& run, store::Batch& batch);

/// Removes every key of a run but its places in the run index.
void remove_run(const trigger::RunState& state, ShardId shard, const RunName& run,
                store::Batch& batch);

} // namespace sluice::engine
