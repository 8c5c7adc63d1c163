#include "store/embedded/internal/ordered_logs.h"

#include <filesystem>
#include <utility>

namespace sluice::store::embedded {
namespace {

class EnvWithLogs final : public rocksdb::EnvWrapper {
public:
    EnvWithLogs(rocksdb::Env& env, std::shared_ptr<OrderedLogs> files) : EnvWrapper(&env) {
        file_system_ = std::move(files);
        system_clock_ = env.GetSystemClock();
    }
};

} // namespace

rocksdb::IOStatus OrderedLogs::NewWritableFile(const std::string& name,
                                               const rocksdb::FileOptions& options,
                                               std::unique_ptr<rocksdb::FSWritableFile>* file,
                                               rocksdb::IODebugContext* debug) {
    if (!name.ends_with(".log")) {
        return target()->NewWritableFile(name, options, file, debug);
    }
    auto lock = std::lock_guard{mutex_};
    auto status = sync_last();
    if (status.ok()) {
        status = target()->NewWritableFile(name, options, file, debug);
        last_ = name;
    }
    return status;
}

rocksdb::IOStatus OrderedLogs::sync() {
    auto lock = std::lock_guard{mutex_};
    return sync_last();
}

rocksdb::IOStatus OrderedLogs::sync_last() {
    if (last_.empty()) {
        return rocksdb::IOStatus::OK();
    }
    // Through a handle of our own: RocksDB's allows no sync after a failed write, and a commit may
    // be failing just now.
    auto file = std::unique_ptr<rocksdb::FSWritableFile>{};
    auto status = target()->ReopenWritableFile(last_, {}, &file, nullptr);
    if (status.ok()) {
        status = file->Sync({}, nullptr);
    }
    auto directory = std::unique_ptr<rocksdb::FSDirectory>{};
    if (status.ok()) {
        auto parent = std::filesystem::path{last_}.parent_path().string();
        status = target()->NewDirectory(parent, {}, &directory, nullptr);
    }
    return status.ok() ? directory->Fsync({}, nullptr) : status;
}

std::unique_ptr<rocksdb::Env> env_with(rocksdb::Env& env, std::shared_ptr<OrderedLogs> files) {
    return std::make_unique<EnvWithLogs>(env, std::move(files));
}

} // namespace sluice::store::embedded
