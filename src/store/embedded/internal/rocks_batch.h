#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <rocksdb/write_batch.h>

#include "base/result.h"
#include "store/store.h"

namespace sluice::store::embedded {

/// A batch in the form in which RocksDB logs it.
class RocksBatch final : public Batch {
public:
    void put(std::string_view key, std::string_view value) override;
    void remove(std::string_view key) override;
    void remove_range(std::string_view from, std::string_view to) override;
    void fence(const Fence& fence) override;
    std::size_t bytes() const override { return batch_.GetDataSize(); }
    void clear() override;

    std::span<const Fence> fences() const { return fences_; }
    rocksdb::WriteBatch& raw() { return batch_; }
    /// The first operation that did not fit, if any: a batch takes less than 4 GiB.
    Result<void> status() const;

private:
    void note(const rocksdb::Status& status);

    /// With room for a large commit: growing to it would copy it several times.
    rocksdb::WriteBatch batch_{std::size_t{512} * 1024};
    std::vector<Fence> fences_;
    rocksdb::Status status_;
};

} // namespace sluice::store::embedded
