#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "store/store.h"

namespace sluice::app {

/// What one commit changed, apart from who may make it.
struct RecordedBatch {
    enum class Kind : std::uint8_t { Put, Remove, RemoveRange };
    struct Change {
        Kind kind = Kind::Put;
        std::string key;
        std::string value; ///< Or where a range ends.
    };
    std::vector<Change> changes;
    std::size_t bytes = 0;
};

/// A store that can write down what is committed to it, so that the same can be committed once
/// more by nobody but the one who measures.
class RecordingStore final : public store::Store {
public:
    explicit RecordingStore(std::unique_ptr<store::Store> store) : store_(std::move(store)) {}

    void begin_recording();
    std::vector<RecordedBatch> end_recording();
    bool is_recording() const;
    store::Store& bare() { return *store_; }

    std::uint16_t shard_count() const override { return store_->shard_count(); }
    Result<std::vector<store::ShardState>> acquire(std::span<const ShardId> shards) override {
        return store_->acquire(shards);
    }
    std::unique_ptr<store::Batch> make_batch() override;
    Result<void> commit(store::Batch& batch) override;
    Result<void> sync() override { return store_->sync(); }
    Result<void> compact() override { return store_->compact(); }
    Result<void> copy_to(const std::filesystem::path& path) override {
        return store_->copy_to(path);
    }
    Result<std::optional<std::string>> get(std::string_view key) const override {
        return store_->get(key);
    }
    std::unique_ptr<store::Cursor> scan(std::string_view from, std::string_view to) const override {
        return store_->scan(from, to);
    }
    bool is_writable() const override { return store_->is_writable(); }
    std::uint64_t disk_bytes() const override { return store_->disk_bytes(); }

private:
    std::unique_ptr<store::Store> store_;
    mutable std::mutex mutex_;
    bool is_recording_ = false;
    std::vector<RecordedBatch> batches_;
};

/// Commits the same batches, beside where they were, one after the other: seconds.
Result<double> commit_again(store::Store& store, const std::vector<RecordedBatch>& batches);

} // namespace sluice::app
