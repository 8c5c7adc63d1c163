#include "store/embedded/internal/locked_directory.h"

#include "store/embedded/internal/status.h"

namespace sluice::store::embedded {

Result<std::unique_ptr<LockedDirectory>> LockedDirectory::lock(rocksdb::Env& env,
                                                               const std::filesystem::path& path) {
    rocksdb::FileLock* lock = nullptr;
    auto status = env.LockFile((path / "LOCK").string(), &lock);
    if (is_lock_conflict(status)) {
        return fail_in_use(path);
    }
    if (!status.ok()) {
        return fail_with(status, "locking the data directory");
    }
    return std::unique_ptr<LockedDirectory>{new LockedDirectory{env, lock}};
}

LockedDirectory::~LockedDirectory() {
    env_.UnlockFile(lock_);
}

bool is_lock_conflict(const rocksdb::Status& status) {
    auto text = status.ToString();
    // RocksDB has no code of its own for it: one text within a process, another between two.
    return status.IsIOError() && (text.find("lock hold by current process") != std::string::npos ||
                                  text.find("While lock file") != std::string::npos);
}

std::unexpected<Error> fail_in_use(const std::filesystem::path& path) {
    return fail(Errc::Conflict, "data directory {} is in use by another sluice process",
                path.string());
}

} // namespace sluice::store::embedded
