#include <utility>

#include "engine/run_records.h"
#include "engine/shard.h"
#include "value/archive.h"

namespace sluice::engine {

namespace {

/// Every number under a prefix, with what stands behind it in the key.
template <typename Use>
Result<void> read_numbers(const store::Store& store, const std::string& prefix, Use use) {
    auto cursor = store.scan(prefix, keys::end_of(prefix));
    for (; cursor->is_valid(); cursor->next()) {
        auto number = TRY(read_number(cursor->value()));
        TRY(use(cursor->key().substr(prefix.size()), number));
    }
    return cursor->status();
}

} // namespace

Result<Release> Shard::open(store::ShardState state) {
    epoch_ = state.epoch;
    commit_ = state.commit.raw();
    const auto& store = services_.store;
    auto mark = ShardClock::Mark{};
    auto time = TRY(store.get(keys::shard_time(id_)));
    if (time) {
        auto in = Decoder{*time};
        TRY(in.format(time_format, "time of a shard"));
        mark = TRY(value::decode_fields<ShardClock::Mark>(in));
    }
    clock_.start(mark);
    moment_ = clock_.now();

    auto take_position = [&](std::string_view partition, std::uint64_t number) -> Result<void> {
        positions_[std::string{partition}] = number;
        return {};
    };
    TRY(read_numbers(store, keys::table(id_, 'P'), take_position));
    auto take_stream = [&](std::string_view sender, std::uint64_t number) -> Result<void> {
        auto in = Decoder{sender};
        taken_[ShardId{TRY(in.u16())}] = number;
        return {};
    };
    TRY(read_numbers(store, keys::table(id_, 'L') + "t", take_stream));
    TRY(timers_.load());
    auto quarantine = keys::table(id_, 'Q');
    auto set_aside = store.scan(quarantine, keys::end_of(quarantine));
    for (; set_aside->is_valid(); set_aside->next()) {
        ++quarantined_;
    }
    TRY(set_aside->status());

    auto ready = keys::table(id_, 'W');
    auto cursor = store.scan(ready, keys::end_of(ready));
    for (; cursor->is_valid(); cursor->next()) {
        auto key = Decoder{cursor->key().substr(ready.size())};
        ready_.insert(TRY(keys::read_run(key)));
    }
    TRY(cursor->status());

    auto left = TRY(outbox_.load(store));
    auto release = Release{.shard = id_, .commit = commit_};
    release.messages = std::move(left.messages);
    for (const auto& [run, key] : left.calls) {
        auto* awake = TRY(runs_.find(run));
        auto task = awake == nullptr ? decltype(awake->state->tasks.end()){}
                                     : awake->state->tasks.find(key);
        if (awake == nullptr || task == awake->state->tasks.end()) {
            outbox_.close_call(run, key);
            continue;
        }
        // One that waits for its next attempt has a timer, one that is closed is swept.
        if (!task->second.is_waiting && awake->state->is_open(task->second)) {
            release.calls.push_back(call_of(*awake, key, task->second, task->second.attempt));
        }
    }
    runs_.shrink(commit_);
    return release;
}

} // namespace sluice::engine
