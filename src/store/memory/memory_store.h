#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/shard_table.h"
#include "store/sorted_table.h"
#include "store/store.h"

namespace sluice::store::memory {

/// A store that forgets: everything lies in memory, and the same calls give the same answers.
class MemoryStore final : public Store {
public:
    explicit MemoryStore(std::uint16_t shard_count = 64) : shards_(shard_count) {}

    std::uint16_t shard_count() const override { return shards_.count(); }
    Result<std::vector<ShardState>> acquire(std::span<const ShardId> shards) override;
    std::unique_ptr<Batch> make_batch() override;
    /// Takes batches of its own making only.
    Result<void> commit(Batch& batch) override;
    Result<void> sync() override { return {}; }
    Result<std::optional<std::string>> get(std::string_view key) const override;
    std::unique_ptr<Cursor> scan(std::string_view from, std::string_view to) const override;
    bool is_writable() const override { return true; }
    std::uint64_t disk_bytes() const override { return 0; }

    /// What the keys and values take.
    std::uint64_t memory_bytes() const { return table_.bytes(); }

private:
    std::mutex mutex_;
    ShardTable shards_;
    SortedTable table_;
};

} // namespace sluice::store::memory
