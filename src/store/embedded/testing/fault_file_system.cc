#include "store/embedded/testing/fault_file_system.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <rocksdb/system_clock.h>

namespace sluice::store::embedded::testing {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

std::string content_of(const std::string& name) {
    auto file = std::ifstream{name, std::ios::binary};
    auto content = std::ostringstream{};
    content << file.rdbuf();
    return std::move(content).str();
}

void write_content(const std::string& name, const std::string& content) {
    auto file = std::ofstream{name, std::ios::binary | std::ios::trunc};
    file << content;
}

class HurriedClock final : public rocksdb::SystemClockWrapper {
public:
    HurriedClock() : SystemClockWrapper(rocksdb::SystemClock::Default()) {}
    const char* Name() const override { return "HurriedClock"; }
    void SleepForMicroseconds(int /*micros*/) override {}
};

class FaultEnv final : public rocksdb::EnvWrapper {
public:
    explicit FaultEnv(std::shared_ptr<rocksdb::FileSystem> files)
        : EnvWrapper(rocksdb::NewCompositeEnv(files)) {
        file_system_ = std::move(files);
        system_clock_ = std::make_shared<HurriedClock>();
    }
};

} // namespace

class TrackedFile final : public rocksdb::FSWritableFileOwnerWrapper {
public:
    TrackedFile(std::unique_ptr<rocksdb::FSWritableFile> file, std::string name,
                FaultFileSystem& system)
        : FSWritableFileOwnerWrapper(std::move(file)), name_(std::move(name)), system_(system) {}

    IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                    IODebugContext* debug) override {
        auto status = system_.begin();
        // The write during which the power goes may still reach the file in part.
        auto written = target()->Append(data, options, debug);
        system_.note_written(name_, data.size());
        return status.ok() ? written : status;
    }
    IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                    const rocksdb::DataVerificationInfo& /*verification*/,
                    IODebugContext* debug) override {
        return Append(data, options, debug);
    }
    IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
        auto status = system_.begin_sync();
        if (status.ok()) {
            status = target()->Flush(options, debug);
            system_.note_synced(name_);
        }
        return status;
    }
    IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
        return Sync(options, debug);
    }
    // Hints, no promises.
    void PrepareWrite(std::size_t /*offset*/, std::size_t /*bytes*/, const IOOptions& /*options*/,
                      IODebugContext* /*debug*/) override {}
    IOStatus RangeSync(std::uint64_t /*offset*/, std::uint64_t /*bytes*/,
                       const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
        return IOStatus::OK();
    }

private:
    std::string name_;
    FaultFileSystem& system_;
};

class TrackedDirectory final : public rocksdb::FSDirectoryWrapper {
public:
    TrackedDirectory(std::unique_ptr<rocksdb::FSDirectory> directory, FaultFileSystem& system)
        : FSDirectoryWrapper(std::move(directory)), system_(system) {}

    IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
        auto status = system_.begin();
        if (status.ok()) {
            system_.note_directory_synced();
        }
        return status;
    }
    IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                                 const rocksdb::DirFsyncOptions& /*reason*/) override {
        return Fsync(options, debug);
    }

private:
    FaultFileSystem& system_;
};

FaultFileSystem::FaultFileSystem(std::uint64_t seed, Tearing tearing)
    : FileSystemWrapper(rocksdb::FileSystem::Default()), random_(seed), tearing_(tearing) {}

void FaultFileSystem::lose_power_at(std::uint64_t operation) {
    power_ends_at_ = operation;
}
void FaultFileSystem::fail_sync_at(std::uint64_t sync) {
    failing_sync_ = sync;
}

bool FaultFileSystem::has_power() const {
    auto lock = std::lock_guard{mutex_};
    return has_power_;
}

IOStatus FaultFileSystem::begin() {
    auto lock = std::lock_guard{mutex_};
    has_power_ = has_power_ && power_ends_at_ != operations_++;
    return has_power_ ? IOStatus::OK() : IOStatus::IOError("the power is gone");
}

IOStatus FaultFileSystem::begin_sync() {
    auto status = begin();
    auto lock = std::lock_guard{mutex_};
    if (status.ok() && failing_sync_ == syncs_++) {
        return IOStatus::IOError("the sync failed");
    }
    return status;
}

void FaultFileSystem::note_written(const std::string& name, std::uint64_t bytes) {
    auto lock = std::lock_guard{mutex_};
    written_[name] += bytes;
}

void FaultFileSystem::note_synced(const std::string& name) {
    auto lock = std::lock_guard{mutex_};
    synced_[name] = written_[name];
}

void FaultFileSystem::note_directory_synced() {
    auto lock = std::lock_guard{mutex_};
    named_.clear();
}

IOStatus FaultFileSystem::NewWritableFile(const std::string& name,
                                          const rocksdb::FileOptions& options,
                                          std::unique_ptr<rocksdb::FSWritableFile>* file,
                                          IODebugContext* debug) {
    auto status = begin();
    if (status.ok()) {
        status = target()->NewWritableFile(name, options, file, debug);
    }
    if (status.ok()) {
        auto lock = std::lock_guard{mutex_};
        written_[name] = 0;
        synced_[name] = 0;
        named_.push_back({name, std::nullopt});
        *file = std::make_unique<TrackedFile>(std::move(*file), name, *this);
    }
    return status;
}

IOStatus FaultFileSystem::ReopenWritableFile(const std::string& name,
                                             const rocksdb::FileOptions& options,
                                             std::unique_ptr<rocksdb::FSWritableFile>* file,
                                             IODebugContext* debug) {
    auto status = begin();
    if (status.ok()) {
        status = target()->ReopenWritableFile(name, options, file, debug);
    }
    if (status.ok()) {
        *file = std::make_unique<TrackedFile>(std::move(*file), name, *this);
    }
    return status;
}

IOStatus FaultFileSystem::NewDirectory(const std::string& name, const IOOptions& options,
                                       std::unique_ptr<rocksdb::FSDirectory>* directory,
                                       IODebugContext* debug) {
    auto status = target()->NewDirectory(name, options, directory, debug);
    if (status.ok()) {
        *directory = std::make_unique<TrackedDirectory>(std::move(*directory), *this);
    }
    return status;
}

IOStatus FaultFileSystem::RenameFile(const std::string& from, const std::string& to,
                                     const IOOptions& options, IODebugContext* debug) {
    auto status = begin();
    if (!status.ok()) {
        return status;
    }
    auto lock = std::lock_guard{mutex_};
    auto replaced = std::filesystem::exists(to) ? std::optional{content_of(to)} : std::nullopt;
    named_.push_back({to, std::move(replaced)});
    written_[to] = written_[from];
    synced_[to] = synced_[from];
    written_.erase(from);
    synced_.erase(from);
    return target()->RenameFile(from, to, options, debug);
}

IOStatus FaultFileSystem::DeleteFile(const std::string& name, const IOOptions& options,
                                     IODebugContext* debug) {
    auto status = begin();
    if (!status.ok()) {
        return status;
    }
    auto lock = std::lock_guard{mutex_};
    written_.erase(name);
    synced_.erase(name);
    std::erase_if(named_, [&](const auto& naming) { return naming.name == name; });
    return target()->DeleteFile(name, options, debug);
}

void FaultFileSystem::apply_loss() {
    auto lock = std::lock_guard{mutex_};
    for (const auto& [name, synced] : synced_) {
        if (std::filesystem::exists(name)) {
            tear(name, synced);
        }
    }
    for (auto lost = random_.below(named_.size() + 1); lost > 0; --lost) {
        const auto& naming = named_.back();
        if (naming.replaced) {
            write_content(naming.name, *naming.replaced);
        } else {
            std::filesystem::remove(naming.name);
        }
        named_.pop_back();
    }
}

void FaultFileSystem::tear(const std::string& name, std::uint64_t synced) {
    auto content = content_of(name);
    auto unsynced = content.size() - std::min<std::uint64_t>(content.size(), synced);
    if (unsynced == 0) {
        return;
    }
    auto kept = random_.below(unsynced + 1);
    content.resize(synced + kept);
    // The file may have grown before its bytes arrived.
    auto hole = random_.chance(0.5) ? random_.below(kept + 1) : 0;
    auto hole_at = tearing_ == Tearing::AtTheEnd ? kept - hole : random_.below(kept - hole + 1);
    std::fill_n(content.begin() + static_cast<std::ptrdiff_t>(synced + hole_at), hole,
                random_.chance(0.5) ? '\0' : '\x5A');
    write_content(name, content);
}

std::unique_ptr<rocksdb::Env> env_on(std::shared_ptr<rocksdb::FileSystem> files) {
    return std::make_unique<FaultEnv>(std::move(files));
}

} // namespace sluice::store::embedded::testing
