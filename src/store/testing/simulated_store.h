#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "store/shard_table.h"
#include "store/sorted_table.h"
#include "store/store.h"

namespace sluice::store::testing {

/// Where a commit stops when the machine dies in it.
enum class CrashPoint : std::uint8_t {
    BeforeWrite, ///< Nothing of it reached the disk.
    TornWrite,   ///< A part of it did.
    AfterWrite,  ///< All of it, but it was not synced.
    AfterSync,   ///< It is durable; only the caller never heard.
};

/// What dies: the process leaves its unsynced writes to the system, lost power takes them or a part
/// of them.
enum class Loss : std::uint8_t { Process, Power };

/// A store on a simulated disk that fails when told to; what survives follows from the seed alone.
///
/// The disk is a string: a synced part, and behind it writes that are not synced yet. Every commit
/// is one write of a checksummed frame and (when strict) one sync. After a crash the store takes
/// nothing more, and `crash` gives a new one that found what the disk kept. Reads see the last
/// successful commit.
class SimulatedStore final : public Store {
public:
    struct Options {
        std::uint64_t seed = 1;
        Durability durability = Durability::Strict;
        std::uint16_t shard_count = 64;
        Atomicity atomicity =
            Atomicity::Batch; ///< What it says of itself; a batch is always whole.
    };

    explicit SimulatedStore(Options options);

    // What shall go wrong. A count of 0 means the very next one.
    void crash_at_write(std::uint64_t writes_from_now, CrashPoint point);
    /// The sync reports an error; whether the disk has the data, the seed decides.
    void fail_sync(std::uint64_t syncs_from_now);
    /// Commits are refused with NoSpace until room is made again.
    void set_full(bool is_full);

    /// Died by itself or by a failed sync: every further commit fails.
    bool is_dead() const;
    /// Kills it, if it still lives, and opens what the disk kept. This one stays dead.
    std::unique_ptr<SimulatedStore> crash(Loss loss);
    /// Commits and acquisitions so far.
    std::uint64_t writes() const;

    std::uint16_t shard_count() const override { return shards_.count(); }
    Result<std::vector<ShardState>> acquire(std::span<const ShardId> shards) override;
    std::unique_ptr<Batch> make_batch() override;
    /// Takes batches of its own making only.
    Result<void> commit(Batch& batch) override;
    Atomicity atomicity() const override { return options_.atomicity; }
    Result<void> sync() override;
    Result<std::optional<std::string>> get(std::string_view key) const override;
    std::unique_ptr<Cursor> scan(std::string_view from, std::string_view to) const override;
    bool is_writable() const override;
    std::uint64_t disk_bytes() const override;

private:
    struct PlannedCrash {
        std::uint64_t write;
        CrashPoint point;
    };

    void recover(std::string disk);
    void apply_frame(std::string_view payload);
    Result<void> write(std::string_view payload);
    Result<void> sync_locked();
    Result<void> die(std::string_view why);

    Options options_;
    Random random_;
    mutable std::mutex mutex_;
    ShardTable shards_;
    SortedTable table_;
    std::string synced_;
    std::string unsynced_;
    std::uint64_t writes_ = 0;
    std::uint64_t syncs_ = 0;
    std::optional<PlannedCrash> planned_crash_;
    std::optional<std::uint64_t> planned_sync_failure_;
    bool is_full_ = false;
    std::optional<Error> death_;
};

} // namespace sluice::store::testing
