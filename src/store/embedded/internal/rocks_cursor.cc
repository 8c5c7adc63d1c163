#include "store/embedded/internal/rocks_cursor.h"

#include <utility>

#include "store/embedded/internal/status.h"

namespace sluice::store::embedded {

RocksCursor::RocksCursor(rocksdb::DB& database, std::string from, std::string to)
    : to_(std::move(to)), bound_(to_) {
    auto options = rocksdb::ReadOptions{};
    options.iterate_upper_bound = &bound_;
    iterator_.reset(database.NewIterator(options));
    iterator_->Seek(from);
}

std::string_view RocksCursor::key() const {
    return view(iterator_->key()).substr(1);
}

std::string_view RocksCursor::value() const {
    return view(iterator_->value());
}

Result<void> RocksCursor::status() const {
    auto status = iterator_->status();
    if (!status.ok()) {
        return fail_with(status, "scanning");
    }
    return {};
}

} // namespace sluice::store::embedded
