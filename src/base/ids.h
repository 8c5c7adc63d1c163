#pragma once

#include <cstdint>

#include "base/strong.h"

namespace sluice {

/// One thread's share of all runs; a run's shard follows from its id.
using ShardId = Strong<struct ShardTag, std::uint16_t>;
/// Counts the owners of a shard; what an earlier owner writes is refused.
using Epoch = Strong<struct EpochTag, std::uint64_t>;
/// Counts a shard's commits.
using CommitNumber = Strong<struct CommitTag, std::uint64_t>;

} // namespace sluice
