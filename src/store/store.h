#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace sluice::store {

/// What a commit must find: its shard still owned under this epoch, at this commit. After it, the
/// shard is at the next one.
struct Fence {
    ShardId shard;
    Epoch epoch;
    CommitNumber stands_on;
};

/// Puts and removals of one commit, in one flat buffer. Reused: `clear` keeps its memory.
class Batch {
public:
    virtual ~Batch() = default;
    virtual void put(std::string_view key, std::string_view value) = 0;
    virtual void remove(std::string_view key) = 0;
    /// Removes every key in [from, to).
    virtual void remove_range(std::string_view from, std::string_view to) = 0;
    virtual void fence(const Fence& fence) = 0;
    virtual std::size_t bytes() const = 0;
    virtual void clear() = 0;
};

/// Keys in order from a start to before an end, as they were when the cursor was made.
class Cursor {
public:
    virtual ~Cursor() = default;
    virtual bool is_valid() const = 0;
    virtual std::string_view key() const = 0;
    virtual std::string_view value() const = 0;
    virtual void next() = 0;
    /// Why it became invalid: nothing when it reached the end.
    virtual Result<void> status() const = 0;
};

enum class Durability : std::uint8_t {
    Strict,  ///< Synced before anybody hears of it.
    Relaxed, ///< Synced every few milliseconds: that much may be lost on power loss, not on a crash
             ///< of the process.
    Memory,  ///< Nothing survives: tests.
};

/// How much of a batch happens at once.
enum class Atomicity : std::uint8_t {
    Batch, ///< All of it or nothing.
    Shard, ///< Each shard's part by itself: where one is refused, others may have been taken.
};

struct ShardState {
    Epoch epoch;
    CommitNumber commit;
};

class Leases;

/// Keyed state with atomic batches. Keys are bytes in order; what they mean is the engine's
/// business.
///
/// Reads and commits may come from different threads; commits from one at a time.
class Store {
public:
    virtual ~Store() = default;

    /// Shards fixed when the store was created.
    virtual std::uint16_t shard_count() const = 0;
    /// Becomes the owner: raises the epoch of each shard, durably, so that earlier owners are
    /// refused.
    virtual Result<std::vector<ShardState>> acquire(std::span<const ShardId> shards) = 0;

    /// Where several processes share its shards; null: one process has all of them.
    virtual Leases* leases() { return nullptr; }

    virtual std::unique_ptr<Batch> make_batch() = 0;
    /// All of it or nothing, shard by shard where `atomicity` says so, durable when it returns (as
    /// far as the durability says). Stale when a fence does not match; NoSpace when the reserve of
    /// free space is used up and nothing was written; any other error leaves the outcome unknown
    /// and the process must stop.
    virtual Result<void> commit(Batch& batch) = 0;
    virtual Atomicity atomicity() const { return Atomicity::Batch; }
    /// Until everything committed is on disk, whatever the durability.
    virtual Result<void> sync() = 0;
    /// Until what was removed or replaced is in no file any more. Takes as long as writing all that
    /// there is anew; nothing where there are no files.
    virtual Result<void> compact() { return {}; }
    /// All that is committed, as it is now, as a store of its own in a directory that does not
    /// exist yet. Commits go on meanwhile.
    virtual Result<void> copy_to(const std::filesystem::path& /*path*/) {
        return fail(Errc::Unsupported, "this store is no directory that could be copied");
    }

    virtual Result<std::optional<std::string>> get(std::string_view key) const = 0;
    /// Keys in [from, to); an empty `to` means to the end.
    virtual std::unique_ptr<Cursor> scan(std::string_view from, std::string_view to) const = 0;

    /// Free space is above the reserve: checked before a batch is taken.
    virtual bool is_writable() const = 0;
    virtual std::uint64_t disk_bytes() const = 0;
};

} // namespace sluice::store
