#pragma once

#include "store/store.h"

namespace sluice::store::testing {

/// Hands everything on to another store: tests replace what shall be different.
class ForwardingStore : public Store {
public:
    explicit ForwardingStore(Store& store) : store_(store) {}

    std::uint16_t shard_count() const override { return store_.shard_count(); }
    Result<std::vector<ShardState>> acquire(std::span<const ShardId> shards) override {
        return store_.acquire(shards);
    }
    std::unique_ptr<Batch> make_batch() override { return store_.make_batch(); }
    Result<void> commit(Batch& batch) override { return store_.commit(batch); }
    Result<void> sync() override { return store_.sync(); }
    Result<std::optional<std::string>> get(std::string_view key) const override {
        return store_.get(key);
    }
    std::unique_ptr<Cursor> scan(std::string_view from, std::string_view to) const override {
        return store_.scan(from, to);
    }
    bool is_writable() const override { return store_.is_writable(); }
    std::uint64_t disk_bytes() const override { return store_.disk_bytes(); }

private:
    Store& store_;
};

} // namespace sluice::store::testing
