#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/embedded/options.h"
#include "store/embedded/report.h"
#include "store/shard_table.h"
#include "store/store.h"

namespace rocksdb {
class DB;
class WriteBatch;
struct Options;
} // namespace rocksdb

namespace sluice::store::embedded {

class BackgroundSync;
class FreeSpace;
class LockedDirectory;
class OrderedLogs;

/// A store in a directory of its own, on RocksDB: one commit is one record of its write-ahead log.
///
/// The first write or sync that fails leaves the outcome unknown, and the store takes nothing more:
/// its process must stop, and the next one finds out what is there. docs/formats/store.md has the
/// layout and the rules of recovery.
class EmbeddedStore final : public Store {
public:
    /// Creates the store when the directory is empty or missing. Conflict when another process has
    /// it open, Corrupt for damage that is not a torn end, Unsupported when a newer release wrote
    /// it.
    static Result<std::unique_ptr<EmbeddedStore>> open(const std::filesystem::path& path,
                                                       Options options = {});
    /// Every checksum of a store that nobody has open, also of one that would not open. Changes
    /// nothing.
    static Result<CheckReport> check(const std::filesystem::path& path, Options options = {});
    ~EmbeddedStore() override;
    EmbeddedStore(const EmbeddedStore&) = delete;
    EmbeddedStore& operator=(const EmbeddedStore&) = delete;

    std::uint16_t shard_count() const override { return shards_.count(); }
    Result<std::vector<ShardState>> acquire(std::span<const ShardId> shards) override;
    std::unique_ptr<Batch> make_batch() override;
    /// Takes batches of its own making only.
    Result<void> commit(Batch& batch) override;
    Result<void> sync() override;
    /// Large values leave the disk only so, or when all their neighbours went too.
    Result<void> compact() override;
    /// Tables are linked, not copied, where both are on one file system.
    Result<void> copy_to(const std::filesystem::path& path) override;
    Result<std::optional<std::string>> get(std::string_view key) const override;
    std::unique_ptr<Cursor> scan(std::string_view from, std::string_view to) const override;
    bool is_writable() const override;
    std::uint64_t disk_bytes() const override;

    /// What opening had to cut from the end of the log.
    const RecoveryReport& recovery() const { return recovery_; }
    /// The release that created the store.
    const std::string& created_by() const { return created_by_; }
    /// Reads every table and blob file and holds it against its checksum; `check` also reads the
    /// logs.
    Result<CheckReport> verify() const;
    /// Says every key and value, in order, as of now; stops at the first error the receiver gives
    /// back.
    Result<void> export_to(
        const std::function<Result<void>(std::string_view key, std::string_view value)>& receiver)
        const;

private:
    EmbeddedStore(std::filesystem::path path, Options options);

    /// Looks at the files before RocksDB does, and cuts what a crash tore.
    Result<void> prepare(rocksdb::Options& settings);
    Result<void> open_database();
    Result<void> load_meta();
    Result<void> create_meta();
    Result<void> load_shards(std::uint16_t count);
    Result<void> write(rocksdb::WriteBatch& batch, Durability durability);
    Result<void> check_healthy() const;
    Result<void> remember_broken(std::string_view what, std::string_view why);

    std::filesystem::path path_;
    Options options_;
    RecoveryReport recovery_;
    std::string created_by_;
    std::shared_ptr<OrderedLogs> logs_; // Only of a relaxed store, like its environment.
    std::unique_ptr<rocksdb::Env> env_;
    std::unique_ptr<LockedDirectory> lock_;
    std::unique_ptr<FreeSpace> space_;
    std::unique_ptr<rocksdb::DB> database_;
    std::mutex commit_mutex_;
    ShardTable shards_{0};
    mutable std::mutex broken_mutex_;
    std::optional<Error> broken_;
    std::atomic<bool> is_broken_ = false;
    // Last, so that it stops before what it syncs is closed.
    std::unique_ptr<BackgroundSync> background_;
};

} // namespace sluice::store::embedded
