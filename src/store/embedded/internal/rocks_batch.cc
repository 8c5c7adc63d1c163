#include "store/embedded/internal/rocks_batch.h"

#include <array>

#include "store/embedded/internal/keys.h"
#include "store/embedded/internal/status.h"
#include "store/shard_table.h"

namespace sluice::store::embedded {
namespace {

/// Space byte and key, without a copy of either.
class StoredKey {
public:
    explicit StoredKey(std::string_view key) : parts_{slice(space_data_begin), slice(key)} {}
    rocksdb::SliceParts parts() const { return {parts_.data(), static_cast<int>(parts_.size())}; }

private:
    std::array<rocksdb::Slice, 2> parts_;
};

} // namespace

void RocksBatch::put(std::string_view key, std::string_view value) {
    auto stored = StoredKey{key};
    auto bytes = slice(value);
    note(batch_.Put(stored.parts(), rocksdb::SliceParts{&bytes, 1}));
}

void RocksBatch::remove(std::string_view key) {
    note(batch_.Delete(StoredKey{key}.parts()));
}

void RocksBatch::remove_range(std::string_view from, std::string_view to) {
    if (to.empty()) {
        note(batch_.DeleteRange(data_key(from), slice(space_data_end)));
    } else if (from < to) {
        note(batch_.DeleteRange(data_key(from), data_key(to)));
    }
}

void RocksBatch::fence(const Fence& fence) {
    note(batch_.Put(shard_key(fence.shard), encode(state_after(fence))));
    fences_.push_back(fence);
}

void RocksBatch::clear() {
    batch_.Clear();
    fences_.clear();
    status_ = rocksdb::Status::OK();
}

Result<void> RocksBatch::status() const {
    if (!status_.ok()) {
        return fail_with(status_, "the batch cannot be stored");
    }
    return {};
}

void RocksBatch::note(const rocksdb::Status& status) {
    if (status_.ok()) {
        status_ = status;
    }
}

} // namespace sluice::store::embedded
