#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/clock.h"
#include "store/store.h"

namespace rocksdb {
class Env;
} // namespace rocksdb

namespace sluice::store::embedded {

enum class Access : std::uint8_t { ReadWrite, ReadOnly };

/// What to do about damage in the write-ahead log that has readable records behind it.
enum class Damage : std::uint8_t {
    Refuse,
    Cut, ///< An operator's decision: everything from the damage on is given up.
};

struct Options {
    Durability durability = Durability::Strict; ///< Strict or Relaxed.
    std::uint16_t shard_count = 64; ///< Used when the store is created, kept ever after.
    Access access = Access::ReadWrite;
    Damage damage = Damage::Refuse;
    /// Free space below which nothing is taken any more. Without one: 5 % of the disk, at most 256
    /// MiB.
    std::optional<std::uint64_t> reserve_bytes;

    // The outside world, for tests. Each outlives the store; null means the real one.
    const Clock* clock = nullptr;
    rocksdb::Env* env = nullptr;
    std::function<std::uint64_t()> free_bytes;
    std::uint64_t write_buffer_bytes = 8ULL << 20U;
};

} // namespace sluice::store::embedded
