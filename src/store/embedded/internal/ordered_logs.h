#pragma once

#include <memory>
#include <mutex>
#include <string>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

namespace sluice::store::embedded {

/// Keeps the write-ahead logs of a relaxed store in order: each is synced before the next one
/// begins.
///
/// The system may otherwise write a newer file before an older one, and after lost power a hole
/// would be where commits were, with readable ones behind it.
class OrderedLogs final : public rocksdb::FileSystemWrapper {
public:
    explicit OrderedLogs(const std::shared_ptr<rocksdb::FileSystem>& files)
        : FileSystemWrapper(files) {}
    const char* Name() const override { return "OrderedLogs"; }

    rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* file,
                                      rocksdb::IODebugContext* debug) override;
    /// Everything written to any log until now is on disk. Any thread may call it.
    rocksdb::IOStatus sync();

private:
    rocksdb::IOStatus sync_last();

    std::mutex mutex_;
    std::string last_;
};

/// The same environment with these files.
std::unique_ptr<rocksdb::Env> env_with(rocksdb::Env& env, std::shared_ptr<OrderedLogs> files);

} // namespace sluice::store::embedded
