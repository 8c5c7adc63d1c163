#include "store/embedded/internal/settings.h"

#include <memory>

#include <rocksdb/cache.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include "store/embedded/internal/file_checksum.h"

namespace sluice::store::embedded {
namespace {

constexpr auto cache_bytes = std::size_t{32} << 20U;

/// RocksDB's own diagnostics go nowhere: what matters comes back as a status.
class SilentLogger final : public rocksdb::Logger {
public:
    using rocksdb::Logger::Logv;
    void Logv(const char* /*format*/, va_list /*values*/) override {}
};

rocksdb::BlockBasedTableOptions table_settings() {
    auto table = rocksdb::BlockBasedTableOptions{};
    // Few shards: each keeps its own share, and large values would not fit into a small one.
    table.block_cache = rocksdb::NewLRUCache(cache_bytes, 2);
    table.cache_index_and_filter_blocks = true;
    table.pin_l0_filter_and_index_blocks_in_cache = true;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    // In pieces: the filter of a large table whole would push everything else out of the cache.
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.partition_filters = true;
    table.format_version = 5;
    table.checksum = rocksdb::kXXH3;
    table.block_size = std::size_t{16} << 10U;
    return table;
}

void set_log(rocksdb::Options& settings) {
    // Our own scan decides what a damaged log means, before RocksDB reads it.
    settings.wal_recovery_mode = rocksdb::WALRecoveryMode::kAbsoluteConsistency;
    settings.track_and_verify_wals_in_manifest = true;
    settings.recycle_log_file_num = 0;
    // A background error is final: the process stops, and the next one recovers.
    settings.max_bgerror_resume_count = 0;
    settings.allow_concurrent_memtable_write = false;
}

void set_quiet(rocksdb::Options& settings) {
    settings.info_log = std::make_shared<SilentLogger>();
    settings.info_log_level = rocksdb::InfoLogLevel::FATAL_LEVEL;
    settings.keep_log_file_num = 1;
    settings.stats_dump_period_sec = 0;
    settings.stats_persist_period_sec = 0;
    settings.skip_stats_update_on_db_open = true;
}

void set_tree(rocksdb::Options& settings) {
    // Commits go on while three full buffers are being written out, and at that point RocksDB would
    // let them through at 16 MB/s only: a batch would wait for a twentieth of a second, to spare
    // what is done in a few milliseconds.
    settings.max_write_buffer_number = 4;
    settings.delayed_write_rate = std::uint64_t{1} << 30U;
    settings.max_background_jobs = 2;
    settings.max_open_files = 256;
    settings.max_file_opening_threads = 1;
    settings.table_cache_numshardbits = 2;
    settings.bytes_per_sync = std::uint64_t{1} << 20U;
    // Larger values lie beside the tree, so that compaction does not copy them again and again.
    settings.enable_blob_files = true;
    settings.min_blob_size = std::uint64_t{4} << 10U;
    settings.compression = rocksdb::kLZ4Compression;
    settings.file_checksum_gen_factory = file_checksums();
}

} // namespace

rocksdb::Options settings_for(const Options& options) {
    auto settings = rocksdb::Options{};
    if (options.env != nullptr) {
        settings.env = options.env;
    }
    settings.paranoid_checks = true;
    // Nothing about the machine belongs into the files.
    settings.db_host_id = "";
    settings.write_buffer_size = options.write_buffer_bytes;
    settings.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_settings()));
    set_log(settings);
    set_quiet(settings);
    set_tree(settings);
    return settings;
}

} // namespace sluice::store::embedded
