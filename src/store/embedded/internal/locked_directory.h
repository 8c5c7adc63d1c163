#pragma once

#include <filesystem>
#include <memory>

#include <rocksdb/env.h>

#include "base/result.h"

namespace sluice::store::embedded {

/// RocksDB's own lock on a data directory, held while nobody else may look into or change its
/// files.
class LockedDirectory {
public:
    /// Conflict when another process, or another store of this one, has it.
    static Result<std::unique_ptr<LockedDirectory>> lock(rocksdb::Env& env,
                                                         const std::filesystem::path& path);
    ~LockedDirectory();
    LockedDirectory(const LockedDirectory&) = delete;
    LockedDirectory& operator=(const LockedDirectory&) = delete;

private:
    LockedDirectory(rocksdb::Env& env, rocksdb::FileLock* lock) : env_(env), lock_(lock) {}

    rocksdb::Env& env_;
    rocksdb::FileLock* lock_;
};

/// Whether RocksDB could not open the directory because somebody else has it open.
bool is_lock_conflict(const rocksdb::Status& status);
std::unexpected<Error> fail_in_use(const std::filesystem::path& path);

} // namespace sluice::store::embedded
