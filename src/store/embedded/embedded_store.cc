#include "store/embedded/embedded_store.h"

#include <limits>
#include <utility>

#include <rocksdb/db.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>

#include "store/embedded/internal/background_sync.h"
#include "store/embedded/internal/free_space.h"
#include "store/embedded/internal/keys.h"
#include "store/embedded/internal/locked_directory.h"
#include "store/embedded/internal/ordered_logs.h"
#include "store/embedded/internal/rocks_batch.h"
#include "store/embedded/internal/rocks_cursor.h"
#include "store/embedded/internal/status.h"

namespace sluice::store::embedded {
namespace {

/// Pausing waits for what runs.
void await_background_work(rocksdb::DB& database) {
    if (database.PauseBackgroundWork().ok()) {
        database.ContinueBackgroundWork();
    }
}

} // namespace

EmbeddedStore::EmbeddedStore(std::filesystem::path path, Options options)
    : path_(std::move(path)), options_(std::move(options)) {}

EmbeddedStore::~EmbeddedStore() = default;

Result<std::vector<ShardState>> EmbeddedStore::acquire(std::span<const ShardId> shards) {
    auto lock = std::lock_guard{commit_mutex_};
    TRY(check_healthy());
    auto states = TRY(shards_.raised(shards));
    auto batch = rocksdb::WriteBatch{};
    for (auto at = std::size_t{0}; at < shards.size(); ++at) {
        batch.Put(shard_key(shards[at]), encode(states[at]));
    }
    TRY(write(batch, Durability::Strict));
    for (auto at = std::size_t{0}; at < shards.size(); ++at) {
        shards_.set(shards[at], states[at]);
    }
    return states;
}

std::unique_ptr<Batch> EmbeddedStore::make_batch() {
    return std::make_unique<RocksBatch>();
}

Result<void> EmbeddedStore::commit(Batch& batch) {
    auto& rocks = static_cast<RocksBatch&>(batch);
    auto lock = std::lock_guard{commit_mutex_};
    TRY(check_healthy());
    TRY(rocks.status());
    TRY(shards_.check(rocks.fences()));
    if (!space_->is_enough()) {
        return fail(Errc::NoSpace, "the disk of {} has less than the reserve of {} bytes left",
                    path_.string(), space_->reserve_bytes());
    }
    TRY(write(rocks.raw(), options_.durability));
    space_->note_written(rocks.bytes());
    shards_.advance(rocks.fences());
    return {};
}

Result<void> EmbeddedStore::sync() {
    TRY(check_healthy());
    if (logs_ == nullptr) {
        return {};
    }
    auto status = logs_->sync();
    return status.ok() ? Result<void>{} : remember_broken("a sync", status.ToString());
}

Result<std::optional<std::string>> EmbeddedStore::get(std::string_view key) const {
    auto value = std::string{};
    auto status = database_->Get(rocksdb::ReadOptions{}, data_key(key), &value);
    if (status.IsNotFound()) {
        return std::nullopt;
    }
    if (!status.ok()) {
        return fail_with(status, "reading a key");
    }
    return value;
}

std::unique_ptr<Cursor> EmbeddedStore::scan(std::string_view from, std::string_view to) const {
    return std::make_unique<RocksCursor>(*database_, data_key(from),
                                         to.empty() ? std::string{space_data_end} : data_key(to));
}

bool EmbeddedStore::is_writable() const {
    return options_.access == Access::ReadWrite && space_->is_enough();
}

std::uint64_t EmbeddedStore::disk_bytes() const {
    auto total = std::uint64_t{0};
    auto ignored = std::error_code{};
    for (const auto& entry : std::filesystem::directory_iterator{path_, ignored}) {
        // A file may go between being listed and being asked for its size.
        auto size = entry.file_size(ignored);
        total += ignored ? 0 : size;
    }
    return total;
}

Result<void> EmbeddedStore::compact() {
    auto options = rocksdb::CompactRangeOptions{};
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    options.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;
    options.blob_garbage_collection_age_cutoff = 1.0;
    // A compaction of RocksDB's own, begun meanwhile, would take the files away from this one and
    // leave the large values of removed keys where they are.
    auto status = database_->SetOptions({{"disable_auto_compactions", "true"}});
    await_background_work(*database_);
    if (status.ok()) {
        status = database_->CompactRange(options, nullptr, nullptr);
    }
    auto restored = database_->SetOptions({{"disable_auto_compactions", "false"}});
    // The files that were replaced are removed by the thread that replaced them, after CompactRange
    // returned.
    await_background_work(*database_);
    status = status.ok() ? restored : status;
    return status.ok() ? Result<void>{} : Result<void>{fail_with(status, "compacting")};
}

Result<void> EmbeddedStore::copy_to(const std::filesystem::path& path) {
    TRY(check_healthy());
    auto* raw = static_cast<rocksdb::Checkpoint*>(nullptr);
    auto status = rocksdb::Checkpoint::Create(database_.get(), &raw);
    auto checkpoint = std::unique_ptr<rocksdb::Checkpoint>{raw};
    if (status.ok()) {
        // With its log, which opening looks for, in place of a flush that would take it away.
        status = checkpoint->CreateCheckpoint(path.string(), std::numeric_limits<uint64_t>::max());
    }
    return status.ok() ? Result<void>{} : Result<void>{fail_with(status, "copying the store")};
}

Result<void> EmbeddedStore::export_to(
    const std::function<Result<void>(std::string_view key, std::string_view value)>& receiver)
    const {
    auto cursor = scan({}, {});
    for (; cursor->is_valid(); cursor->next()) {
        TRY(receiver(cursor->key(), cursor->value()));
    }
    return cursor->status();
}

Result<void> EmbeddedStore::write(rocksdb::WriteBatch& batch, Durability durability) {
    // RocksDB counts every comparison of keys, for each thread, unless it is told not to.
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    auto options = rocksdb::WriteOptions{};
    options.sync = durability == Durability::Strict;
    auto status = database_->Write(options, &batch);
    if (!status.ok()) {
        return remember_broken("a commit", status.ToString());
    }
    if (background_ != nullptr && !options.sync) {
        background_->mark_dirty();
    }
    return {};
}

Result<void> EmbeddedStore::check_healthy() const {
    if (options_.access == Access::ReadOnly) {
        return fail(Errc::Unsupported, "the store is open for reading only");
    }
    if (is_broken_) {
        auto lock = std::lock_guard{broken_mutex_};
        return std::unexpected(*broken_);
    }
    return {};
}

Result<void> EmbeddedStore::remember_broken(std::string_view what, std::string_view why) {
    auto lock = std::lock_guard{broken_mutex_};
    if (!broken_) {
        broken_ =
            Error{Errc::Io, fmt::format("{} failed and its outcome is unknown: {}", what, why)};
        is_broken_ = true;
    }
    return std::unexpected(*broken_);
}

} // namespace sluice::store::embedded
