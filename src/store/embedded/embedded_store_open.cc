#include <utility>

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include "store/embedded/embedded_store.h"
#include "store/embedded/internal/background_sync.h"
#include "store/embedded/internal/free_space.h"
#include "store/embedded/internal/keys.h"
#include "store/embedded/internal/locked_directory.h"
#include "store/embedded/internal/ordered_logs.h"
#include "store/embedded/internal/recovery.h"
#include "store/embedded/internal/rocks_cursor.h"
#include "store/embedded/internal/settings.h"
#include "store/embedded/internal/status.h"

namespace sluice::store::embedded {
namespace {

const Clock& system_clock() {
    static const auto clock = SystemClock{};
    return clock;
}

std::unique_ptr<FreeSpace> space_of(const std::filesystem::path& path, const Options& options) {
    auto measure = options.free_bytes;
    if (!measure) {
        measure = [path] { return free_bytes_at(path); };
    }
    return std::make_unique<FreeSpace>(std::move(measure),
                                       options.reserve_bytes.value_or(default_reserve_at(path)),
                                       options.clock != nullptr ? *options.clock : system_clock());
}

Result<void> make_directory(const std::filesystem::path& path, Access access) {
    auto error = std::error_code{};
    if (std::filesystem::is_directory(path, error)) {
        return {};
    }
    if (access == Access::ReadOnly) {
        return fail(Errc::NotFound, "there is no data directory {}", path.string());
    }
    if (!std::filesystem::create_directories(path, error)) {
        return fail(Errc::Io, "creating {}: {}", path.string(), error.message());
    }
    return {};
}

std::unexpected<Error> fail_damaged(const std::filesystem::path& path, const LogFault& fault) {
    return fail(Errc::Corrupt, "{} is damaged at offset {}: {}", (path / fault.file).string(),
                fault.offset, fault.reason);
}

Result<std::optional<std::string>> read(rocksdb::DB& database, std::string_view key) {
    auto value = std::string{};
    auto status = database.Get(rocksdb::ReadOptions{}, slice(key), &value);
    if (status.IsNotFound()) {
        return std::nullopt;
    }
    if (!status.ok()) {
        return fail_with(status, "reading the store's meta");
    }
    return value;
}

Result<std::string> read_needed(rocksdb::DB& database, std::string_view key,
                                std::string_view name) {
    auto value = TRY(read(database, key));
    if (!value) {
        return fail(Errc::Corrupt, "the store has no {}", name);
    }
    return *value;
}

Result<bool> is_empty(rocksdb::DB& database) {
    auto iterator = std::unique_ptr<rocksdb::Iterator>{database.NewIterator({})};
    iterator->SeekToFirst();
    if (!iterator->status().ok()) {
        return fail_with(iterator->status(), "reading the store's first key");
    }
    return !iterator->Valid();
}

} // namespace

Result<std::unique_ptr<EmbeddedStore>> EmbeddedStore::open(const std::filesystem::path& path,
                                                           Options options) {
    if (options.durability == Durability::Memory) {
        return fail(Errc::InvalidInput, "a store in {} cannot have the durability `memory`",
                    path.string());
    }
    auto store = std::unique_ptr<EmbeddedStore>{new EmbeddedStore{path, std::move(options)}};
    TRY(store->open_database());
    TRY(store->load_meta());
    store->space_ = space_of(path, store->options_);
    if (store->options_.durability == Durability::Relaxed &&
        store->options_.access == Access::ReadWrite) {
        store->background_ = std::make_unique<BackgroundSync>([raw = store.get()] {
            // A failure is remembered, and the next commit reports it.
            static_cast<void>(raw->sync());
        });
    }
    return store;
}

Result<void> EmbeddedStore::prepare(rocksdb::Options& settings) {
    auto is_reading = options_.access == Access::ReadOnly;
    auto lock = TRY(LockedDirectory::lock(*settings.env, path_));
    auto findings = TRY(examine(path_));
    if (findings.is_new && is_reading) {
        return fail(Errc::NotFound, "{} holds no store", path_.string());
    }
    settings.create_if_missing = findings.is_new;
    if (!findings.faults.empty()) {
        if (is_reading || options_.damage == Damage::Refuse) {
            return fail_damaged(path_, findings.faults.front());
        }
        findings.cuts = TRY(cuts_at_faults(path_, findings));
        // What the manifest knows of the logs is no longer so.
        settings.track_and_verify_wals_in_manifest = false;
    }
    recovery_.cuts = findings.cuts;
    if (is_reading) {
        // Nothing is cut, only left unread: the scan has seen that nothing stands behind.
        settings.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
        lock_ = std::move(lock);
        return {};
    }
    return apply_cuts(path_, findings.cuts);
}

Result<void> EmbeddedStore::open_database() {
    TRY(make_directory(path_, options_.access));
    auto settings = settings_for(options_);
    if (options_.durability == Durability::Relaxed) {
        logs_ = std::make_shared<OrderedLogs>(settings.env->GetFileSystem());
        env_ = env_with(*settings.env, logs_);
        settings.env = env_.get();
    }
    TRY(prepare(settings));
    rocksdb::DB* database = nullptr;
    auto status = options_.access == Access::ReadWrite
                      ? rocksdb::DB::Open(settings, path_.string(), &database)
                      : rocksdb::DB::OpenForReadOnly(settings, path_.string(), &database);
    if (is_lock_conflict(status)) {
        return fail_in_use(path_);
    }
    if (!status.ok()) {
        return fail_with(status, fmt::format("opening the store in {}", path_.string()));
    }
    database_.reset(database);
    // Commits come before the writing out of what they committed; if that falls behind, they wait.
    for (auto pool : {rocksdb::Env::HIGH, rocksdb::Env::LOW}) {
        auto ignored = settings.env->LowerThreadPoolCPUPriority(pool, rocksdb::CpuPriority::kLow);
        ignored.PermitUncheckedError();
    }
    return {};
}

Result<void> EmbeddedStore::load_meta() {
    auto format = TRY(read(*database_, key_format));
    if (!format) {
        if (TRY(is_empty(*database_))) {
            // A crash may come between the files of a new store and its first record.
            return options_.access == Access::ReadWrite
                       ? create_meta()
                       : fail(Errc::NotFound, "{} holds no store yet: its making was interrupted",
                              path_.string());
        }
        return fail(Errc::Corrupt, "{} holds no sluice store: it has no format number",
                    path_.string());
    }
    auto number = TRY(Decoder{*format}.u32());
    if (number > format_number) {
        return fail(
            Errc::Unsupported,
            "{} has the store format {}, this release reads up to {}: a newer release wrote it",
            path_.string(), number, format_number);
    }
    created_by_ = TRY(read_needed(*database_, key_created_by, "name of the release that made it"));
    auto count = TRY(read_needed(*database_, key_shard_count, "shard count"));
    return load_shards(TRY(Decoder{count}.u16()));
}

Result<void> EmbeddedStore::create_meta() {
    if (options_.shard_count == 0) {
        return fail(Errc::InvalidInput, "a store needs at least one shard");
    }
    auto format = std::string{};
    Encoder{format}.u32(format_number);
    auto count = std::string{};
    Encoder{count}.u16(options_.shard_count);
    created_by_ = SLUICE_VERSION;
    auto batch = rocksdb::WriteBatch{};
    batch.Put(slice(key_format), format);
    batch.Put(slice(key_shard_count), count);
    batch.Put(slice(key_created_by), created_by_);
    TRY(write(batch, Durability::Strict));
    shards_ = ShardTable{options_.shard_count};
    return {};
}

Result<void> EmbeddedStore::load_shards(std::uint16_t count) {
    shards_ = ShardTable{count};
    auto cursor =
        RocksCursor{*database_, std::string{key_shard_first}, std::string{key_shard_last}};
    for (; cursor.is_valid(); cursor.next()) {
        auto shard = ShardId{TRY(Decoder{cursor.key().substr(1)}.u16())};
        if (shard.raw() >= count) {
            return fail(Errc::Corrupt, "shard {} has a state, the store has {}", shard.raw(),
                        count);
        }
        shards_.set(shard, TRY(decode_shard_state(cursor.value())));
    }
    return cursor.status();
}

} // namespace sluice::store::embedded
