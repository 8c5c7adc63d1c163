#include "store/memory/memory_store.h"

#include "store/flat_batch.h"

namespace sluice::store::memory {

Result<std::vector<ShardState>> MemoryStore::acquire(std::span<const ShardId> shards) {
    auto lock = std::lock_guard{mutex_};
    auto states = TRY(shards_.raised(shards));
    for (auto at = std::size_t{0}; at < shards.size(); ++at) {
        shards_.set(shards[at], states[at]);
    }
    return states;
}

std::unique_ptr<Batch> MemoryStore::make_batch() {
    return std::make_unique<FlatBatch>();
}

Result<void> MemoryStore::commit(Batch& batch) {
    auto& flat = static_cast<FlatBatch&>(batch);
    auto lock = std::lock_guard{mutex_};
    TRY(shards_.check(flat.fences()));
    table_.apply(flat);
    shards_.advance(flat.fences());
    return {};
}

Result<std::optional<std::string>> MemoryStore::get(std::string_view key) const {
    return table_.get(key);
}

std::unique_ptr<Cursor> MemoryStore::scan(std::string_view from, std::string_view to) const {
    return table_.scan(from, to);
}

} // namespace sluice::store::memory
