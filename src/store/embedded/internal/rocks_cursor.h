#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <rocksdb/db.h>

#include "store/store.h"

namespace sluice::store::embedded {

/// Keys of [from, to) as stored, of one space.
class RocksCursor final : public Cursor {
public:
    RocksCursor(rocksdb::DB& database, std::string from, std::string to);

    bool is_valid() const override { return iterator_->Valid(); }
    /// Without the byte that names the space.
    std::string_view key() const override;
    std::string_view value() const override;
    void next() override { iterator_->Next(); }
    Result<void> status() const override;

private:
    std::string to_;
    rocksdb::Slice bound_;
    std::unique_ptr<rocksdb::Iterator> iterator_;
};

} // namespace sluice::store::embedded
