#include "store/testing/simulated_store.h"

#include <utility>

#include "base/bytes.h"
#include "base/fingerprint.h"
#include "base/invariant.h"
#include "store/flat_batch.h"

namespace sluice::store::testing {
namespace {

// A frame is: length u32, checksum u64, payload. A payload begins with its kind.
enum class Kind : std::uint8_t { Commit = 1, Acquire = 2 };

std::string framed(std::string_view payload) {
    auto frame = std::string{};
    auto out = Encoder{frame};
    out.u32(static_cast<std::uint32_t>(payload.size()));
    out.u64(hash64(payload));
    out.raw(payload);
    return frame;
}

/// The next payload; Corrupt at a frame that is cut or does not match its checksum.
Result<std::string_view> take_frame(Decoder& in) {
    auto size = TRY(in.u32());
    auto checksum = TRY(in.u64());
    auto payload = TRY(in.raw(size));
    if (payload.empty() || hash64(payload) != checksum) {
        return fail(Errc::Corrupt, "a frame of {} bytes does not match its checksum", size);
    }
    return payload;
}

std::string payload_of(Kind kind, std::string_view body) {
    auto payload = std::string{};
    payload.reserve(body.size() + 1);
    payload.push_back(static_cast<char>(kind));
    payload.append(body);
    return payload;
}

Result<void> apply_acquisition(std::string_view body, ShardTable& shards) {
    auto in = Decoder{body};
    while (!in.is_at_end()) {
        auto shard = ShardId{TRY(in.u16())};
        auto epoch = Epoch{TRY(in.u64())};
        shards.set(shard, {epoch, CommitNumber{TRY(in.u64())}});
    }
    return {};
}

} // namespace

SimulatedStore::SimulatedStore(Options options)
    : options_(options), random_(options.seed), shards_(options.shard_count) {}

void SimulatedStore::crash_at_write(std::uint64_t writes_from_now, CrashPoint point) {
    auto lock = std::lock_guard{mutex_};
    planned_crash_ = PlannedCrash{writes_ + writes_from_now, point};
}

void SimulatedStore::fail_sync(std::uint64_t syncs_from_now) {
    auto lock = std::lock_guard{mutex_};
    planned_sync_failure_ = syncs_ + syncs_from_now;
}

void SimulatedStore::set_full(bool is_full) {
    auto lock = std::lock_guard{mutex_};
    is_full_ = is_full;
}

bool SimulatedStore::is_dead() const {
    auto lock = std::lock_guard{mutex_};
    return death_.has_value();
}

std::uint64_t SimulatedStore::writes() const {
    auto lock = std::lock_guard{mutex_};
    return writes_;
}

std::unique_ptr<SimulatedStore> SimulatedStore::crash(Loss loss) {
    auto lock = std::lock_guard{mutex_};
    if (!death_) {
        static_cast<void>(die("the process was killed"));
    }
    // Unsynced writes reach the disk in order, as far as they come, be it half a frame.
    auto kept = loss == Loss::Process ? unsynced_.size() : random_.below(unsynced_.size() + 1);
    auto next = std::make_unique<SimulatedStore>(
        Options{random_.next(), options_.durability, options_.shard_count});
    next->recover(synced_ + unsynced_.substr(0, kept));
    return next;
}

void SimulatedStore::recover(std::string disk) {
    auto in = Decoder{disk};
    auto good = std::size_t{0};
    while (!in.is_at_end()) {
        auto payload = take_frame(in);
        if (!payload) {
            break;
        }
        apply_frame(*payload);
        good = disk.size() - in.rest().size();
    }
    disk.resize(good);
    synced_ = std::move(disk);
}

void SimulatedStore::apply_frame(std::string_view payload) {
    auto body = payload.substr(1);
    if (static_cast<Kind>(payload.front()) == Kind::Acquire) {
        INVARIANT(apply_acquisition(body, shards_).has_value(), "a frame reads back");
        return;
    }
    auto batch = FlatBatch{};
    INVARIANT(replay(body, batch).has_value(), "a frame reads back");
    table_.apply(batch);
    shards_.advance(batch.fences());
}

Result<std::vector<ShardState>> SimulatedStore::acquire(std::span<const ShardId> shards) {
    auto lock = std::lock_guard{mutex_};
    auto states = TRY(shards_.raised(shards));
    auto body = std::string{};
    auto out = Encoder{body};
    for (auto at = std::size_t{0}; at < shards.size(); ++at) {
        out.u16(shards[at].raw());
        out.u64(states[at].epoch.raw());
        out.u64(states[at].commit.raw());
    }
    TRY(write(payload_of(Kind::Acquire, body)));
    TRY(sync_locked());
    INVARIANT(apply_acquisition(body, shards_).has_value(), "it was just written");
    return states;
}

std::unique_ptr<Batch> SimulatedStore::make_batch() {
    return std::make_unique<FlatBatch>();
}

Result<void> SimulatedStore::commit(Batch& batch) {
    auto& flat = static_cast<FlatBatch&>(batch);
    auto lock = std::lock_guard{mutex_};
    if (death_) {
        return std::unexpected(*death_);
    }
    TRY(shards_.check(flat.fences()));
    if (is_full_) {
        return fail(Errc::NoSpace, "the simulated disk is full");
    }
    TRY(write(payload_of(Kind::Commit, flat.data())));
    if (options_.durability == Durability::Strict) {
        TRY(sync_locked());
    }
    table_.apply(flat);
    shards_.advance(flat.fences());
    return {};
}

Result<void> SimulatedStore::sync() {
    auto lock = std::lock_guard{mutex_};
    return sync_locked();
}

Result<void> SimulatedStore::write(std::string_view payload) {
    if (death_) {
        return std::unexpected(*death_);
    }
    auto frame = framed(payload);
    auto number = writes_++;
    if (!planned_crash_ || planned_crash_->write != number) {
        unsynced_ += frame;
        return {};
    }
    switch (planned_crash_->point) {
        case CrashPoint::BeforeWrite: break;
        case CrashPoint::TornWrite:
            unsynced_ += frame.substr(0, 1 + random_.below(frame.size() - 1));
            break;
        case CrashPoint::AfterWrite: unsynced_ += frame; break;
        case CrashPoint::AfterSync: synced_ += std::exchange(unsynced_, {}) + frame; break;
    }
    return die("the machine crashed in a commit");
}

Result<void> SimulatedStore::sync_locked() {
    if (death_) {
        return std::unexpected(*death_);
    }
    auto has_failed = planned_sync_failure_ == syncs_++;
    if (!has_failed || random_.chance(0.5)) {
        synced_ += std::exchange(unsynced_, {});
    }
    return has_failed ? die("a sync failed") : Result<void>{};
}

Result<void> SimulatedStore::die(std::string_view why) {
    death_ = Error{Errc::Io, fmt::format("{} and its outcome is unknown", why)};
    return std::unexpected(*death_);
}

Result<std::optional<std::string>> SimulatedStore::get(std::string_view key) const {
    return table_.get(key);
}

std::unique_ptr<Cursor> SimulatedStore::scan(std::string_view from, std::string_view to) const {
    return table_.scan(from, to);
}

bool SimulatedStore::is_writable() const {
    auto lock = std::lock_guard{mutex_};
    return !is_full_;
}

std::uint64_t SimulatedStore::disk_bytes() const {
    auto lock = std::lock_guard{mutex_};
    return synced_.size() + unsynced_.size();
}

} // namespace sluice::store::testing
