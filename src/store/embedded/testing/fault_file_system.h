#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include "base/random.h"

namespace sluice::store::embedded::testing {

/// What a file may lose with the power: bytes at its end, or any of those not yet synced.
enum class Tearing : std::uint8_t { AtTheEnd, Anywhere };

/// Real files that remember what of them was synced, and forget the rest when the power goes.
///
/// Writes, syncs, creations and renames count as operations. At a chosen one the power goes: it and
/// all later ones fail. When the database is closed, `apply_loss` turns the files into what a disk
/// might have kept: synced bytes always, unsynced ones as the seed says; new and renamed files for
/// certain only once their directory was synced.
class FaultFileSystem final : public rocksdb::FileSystemWrapper {
public:
    FaultFileSystem(std::uint64_t seed, Tearing tearing);
    const char* Name() const override { return "FaultFileSystem"; }

    void lose_power_at(std::uint64_t operation);
    /// The sync with this number (of files, not directories) fails; what it should have synced
    /// stays unsynced.
    void fail_sync_at(std::uint64_t sync);
    bool has_power() const;
    void apply_loss();

    rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* file,
                                      rocksdb::IODebugContext* debug) override;
    rocksdb::IOStatus ReopenWritableFile(const std::string& name,
                                         const rocksdb::FileOptions& options,
                                         std::unique_ptr<rocksdb::FSWritableFile>* file,
                                         rocksdb::IODebugContext* debug) override;
    rocksdb::IOStatus NewDirectory(const std::string& name, const rocksdb::IOOptions& options,
                                   std::unique_ptr<rocksdb::FSDirectory>* directory,
                                   rocksdb::IODebugContext* debug) override;
    rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                                 const rocksdb::IOOptions& options,
                                 rocksdb::IODebugContext* debug) override;
    rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                                 rocksdb::IODebugContext* debug) override;

private:
    friend class TrackedFile;
    friend class TrackedDirectory;
    /// A name that a file got, and what had that name before.
    struct Naming {
        std::string name;
        std::optional<std::string> replaced;
    };

    /// Counts an operation and says whether it may still be done.
    rocksdb::IOStatus begin();
    void note_written(const std::string& name, std::uint64_t bytes);
    rocksdb::IOStatus begin_sync();
    void note_synced(const std::string& name);
    void note_directory_synced();
    void tear(const std::string& name, std::uint64_t synced);

    mutable std::mutex mutex_;
    Random random_;
    Tearing tearing_;
    std::uint64_t operations_ = 0;
    std::uint64_t syncs_ = 0;
    std::optional<std::uint64_t> power_ends_at_;
    std::optional<std::uint64_t> failing_sync_;
    bool has_power_ = true;
    std::map<std::string, std::uint64_t> written_;
    std::map<std::string, std::uint64_t> synced_;
    std::vector<Naming> named_;
};

/// The machine with these files, where nobody waits: RocksDB sleeps a second after an error.
std::unique_ptr<rocksdb::Env> env_on(std::shared_ptr<rocksdb::FileSystem> files);

} // namespace sluice::store::embedded::testing
