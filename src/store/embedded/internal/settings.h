#pragma once

#include <rocksdb/options.h>

#include "store/embedded/options.h"

namespace sluice::store::embedded {

/// How we run RocksDB; docs/decisions/0002-rocksdb-settings.md has the measurements behind it.
rocksdb::Options settings_for(const Options& options);

} // namespace sluice::store::embedded
