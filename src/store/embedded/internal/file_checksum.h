#pragma once

#include <memory>

#include <rocksdb/file_checksum.h>

namespace sluice::store::embedded {

/// CRC-32C over whole table and blob files, taken as they are written and kept in the manifest:
/// what `verify` compares with. RocksDB has one of its own, which does without the processor's
/// instruction in the builds that distributions ship.
std::shared_ptr<rocksdb::FileChecksumGenFactory> file_checksums();

} // namespace sluice::store::embedded
