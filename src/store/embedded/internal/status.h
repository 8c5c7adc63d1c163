#pragma once

#include <string_view>

#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include "base/result.h"

namespace sluice::store::embedded {

inline rocksdb::Slice slice(std::string_view bytes) {
    return {bytes.data(), bytes.size()};
}
inline std::string_view view(const rocksdb::Slice& bytes) {
    return {bytes.data(), bytes.size()};
}

/// RocksDB's word for what went wrong as ours, behind what we were doing.
std::unexpected<Error> fail_with(const rocksdb::Status& status, std::string_view doing);

} // namespace sluice::store::embedded
