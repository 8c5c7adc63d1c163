#include "engine/run_records.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/invariant.h"
#include "value/archive.h"

namespace sluice::engine {

namespace {

/// Of a run that no commit has written yet: the store has nothing of it that could be removed.
class FirstWrites final : public store::Batch {
public:
    explicit FirstWrites(store::Batch& batch) : batch_(batch) {}
    void put(std::string_view key, std::string_view value) override { batch_.put(key, value); }
    void remove(std::string_view /*key*/) override {}
    void remove_range(std::string_view /*from*/, std::string_view /*to*/) override {}
    void fence(const store::Fence& fence) override { batch_.fence(fence); }
    std::size_t bytes() const override { return batch_.bytes(); }
    void clear() override { batch_.clear(); }

private:
    store::Batch& batch_;
};

using trigger::DirtyEntity;
using trigger::RunState;
using trigger::Table;

constexpr auto run_format = std::uint8_t{3};
constexpr auto group_format = std::uint8_t{4}; // Not what a program without groups would read.
constexpr auto number_format = std::uint8_t{1};
constexpr auto sequences_format = std::uint8_t{1};

template <typename T>
void write_record(const T& entity, std::string& bytes) {
    bytes.clear();
    auto out = Encoder{bytes};
    out.u8(run_format);
    value::ArchiveWriter{out}.write(entity);
}

template <typename T>
std::string record_of(const T& entity) {
    auto bytes = std::string{};
    write_record(entity, bytes);
    return bytes;
}

template <typename T>
Result<void> read_record(std::string_view bytes, T& entity) {
    auto in = Decoder{bytes};
    auto format = TRY(in.u8());
    if (format != run_format) {
        return fail(Errc::Unsupported, "record of format {}: this program reads {}", format,
                    run_format);
    }
    auto reader = value::ArchiveReader{in};
    reader.read(entity);
    return reader.status();
}

/// The record of each entity in turn, in memory that is used again: a commit may have a thousand.
class EntityRecords {
public:
    explicit EntityRecords(const RunState& state) : state_(state) {}

    /// Good until the next is asked for; nothing when the entity is no longer there.
    std::optional<std::string_view> of(const DirtyEntity& entity) {
        switch (entity.table) {
            case Table::Info: return record(state_.info);
            case Table::Progress: return record(state_.progress);
            case Table::Context:
                return state_.context.is_null() ? std::nullopt : record(state_.context);
            case Table::Scope: return record_in(state_.scopes, entity.path);
            case Table::Task:
                return record_in(state_.tasks,
                                 trigger::TaskKey{.fire = trigger::FireNumber{entity.first},
                                                  .index = entity.second});
            case Table::Timer: return record_in(state_.timers, trigger::TimerNumber{entity.first});
            case Table::Kept: return record_in(state_.kept, trigger::EventNumber{entity.first});
            case Table::Continuation: return record_in(state_.continuations, entity.first);
            case Table::ContinuationNext: return record_in(state_.continuation_next, entity.first);
            case Table::Override:
                return record_in(state_.overrides,
                                 trigger::TriggerNumber{static_cast<std::uint32_t>(entity.first)});
            case Table::Hold: return record_in(state_.holds, trigger::Incarnation{entity.first});
            case Table::Collected: return record_in(state_.collected, collected_key(entity));
            case Table::Place: return state_.place ? record(*state_.place) : std::nullopt;
            case Table::Contexts: return std::nullopt;
        }
        return std::nullopt;
    }

private:
    static trigger::CollectedKey collected_key(const DirtyEntity& entity) {
        return {.scope = trigger::Incarnation{entity.first},
                .trigger = trigger::TriggerNumber{static_cast<std::uint32_t>(entity.second >> 32U)},
                .block = entity.second & 0xFFFF'FFFFU};
    }
    template <typename T>
    std::optional<std::string_view> record(const T& entity) {
        write_record(entity, bytes_);
        return bytes_;
    }
    template <typename Map, typename Key>
    std::optional<std::string_view> record_in(const Map& map, const Key& key) {
        auto found = map.find(key);
        return found == map.end() ? std::nullopt : record(found->second);
    }

    const RunState& state_;
    std::string bytes_;
};

/// Writes the states of triggers with neighbouring numbers: the plain ones of a group as one
/// record, since a store takes a hundred keys a commit far less cheaply than ten.
class TriggerGroupWriter {
public:
    TriggerGroupWriter(std::string_view run_key, store::Batch& batch)
        : run_key_(run_key), batch_(batch) {}

    /// `dirty` are those of the group that changed, or are no longer there.
    void write(const trigger::TriggerStates::Group& group,
               std::span<const trigger::DirtyTrigger> dirty) {
        auto must_write_group = false;
        for (const auto& [scope, number] : dirty) {
            auto* state = group[number.raw() % trigger::TriggerStates::group_size].get();
            must_write_group |=
                state == nullptr || state->is_plain() || state->stored == Stored::WithGroup;
            if (state == nullptr) {
                batch_.remove(keys::trigger_state(run_key_, scope, number));
            } else if (!state->is_plain()) {
                batch_.put(keys::trigger_state(run_key_, scope, number), record_of(*state));
                state->stored = Stored::Alone;
            }
        }
        if (must_write_group) {
            write_plain(group, dirty.front());
        }
    }

private:
    using Stored = trigger::TriggerState::Stored;

    void write_plain(const trigger::TriggerStates::Group& group, const trigger::DirtyTrigger& any) {
        auto first = any.trigger.raw() - any.trigger.raw() % trigger::TriggerStates::group_size;
        record_.clear();
        auto out = Encoder{record_};
        out.u8(group_format);
        for (auto slot = std::uint32_t{0}; slot < group.size(); ++slot) {
            if (!group[slot] || !group[slot]->is_plain()) {
                continue;
            }
            auto& state = *group[slot];
            if (state.stored == Stored::Alone) {
                batch_.remove(
                    keys::trigger_state(run_key_, any.scope, trigger::TriggerNumber{first + slot}));
            }
            state.stored = Stored::WithGroup;
            out.u8(static_cast<std::uint8_t>(slot));
            value::ArchiveWriter{out}.write(state);
        }
        auto key = keys::trigger_group(run_key_, any.scope, trigger::TriggerNumber{first});
        record_.size() > 1 ? batch_.put(key, record_) : batch_.remove(key);
    }

    std::string_view run_key_;
    store::Batch& batch_;
    std::string record_;
};

/// Before the contexts of closed scopes are removed: what closed since is among those.
void write_triggers(RunState& state, std::string_view run_key, store::Batch& batch) {
    using trigger::TriggerStates;
    // In the order of their keys, in which a store takes many far more cheaply.
    std::ranges::sort(state.dirty_triggers);
    static const auto none = TriggerStates::Group{};
    auto writer = TriggerGroupWriter{run_key, batch};
    auto is_neighbour = [](const trigger::DirtyTrigger& one, const trigger::DirtyTrigger& other) {
        return one.scope == other.scope && TriggerStates::group_of(one.trigger.raw()) ==
                                               TriggerStates::group_of(other.trigger.raw());
    };
    for (auto from = state.dirty_triggers.begin(); from != state.dirty_triggers.end();) {
        auto to = std::find_if(from, state.dirty_triggers.end(),
                               [&](const auto& each) { return !is_neighbour(*from, each); });
        const auto* states = state.triggers_in(from->scope);
        const auto* group = states == nullptr
                                ? nullptr
                                : states->group(TriggerStates::group_of(from->trigger.raw()));
        writer.write(group == nullptr ? none : *group, {from, to});
        from = to;
    }
}

void write_timers(RunState& state, ShardId shard, const RunName& run, store::Batch& batch) {
    auto domain_of = [](bool is_absolute) {
        return is_absolute ? keys::TimeDomain::Civil : keys::TimeDomain::Steady;
    };
    for (const auto& removed : state.removed_timers) {
        batch.remove(
            keys::timer(shard, domain_of(removed.is_absolute), removed.due, run, removed.number));
    }
    for (const auto& entity : state.dirty) {
        if (entity.table != Table::Timer) {
            continue;
        }
        auto number = trigger::TimerNumber{entity.first};
        if (auto found = state.timers.find(number); found != state.timers.end()) {
            batch.put(keys::timer(shard, domain_of(found->second.is_absolute), found->second.due,
                                  run, number),
                      "");
        }
    }
}

void write_queue(RunState& state, std::string_view run_key, store::Batch& batch) {
    auto first = state.queue.empty() ? state.progress.emitted + 1 : state.queue.front().number;
    for (auto number = state.queue_stored_first; number < std::min(first, state.queue_stored_end);
         ++number) {
        batch.remove(keys::queued(run_key, number));
    }
    for (const auto& queued : state.queue) {
        if (queued.number >= state.queue_stored_end) {
            batch.put(keys::queued(run_key, queued.number), record_of(queued));
        }
    }
    state.queue_stored_first = first;
    state.queue_stored_end = std::max(state.queue_stored_end, state.progress.emitted + 1);
}

void write_seen(RunState& state, ShardId shard, const RunName& run, store::Batch& batch) {
    auto& seen = state.seen;
    if (auto forgotten = seen.forgotten_records()) {
        batch.remove_range(keys::seen_of(shard, run), keys::seen(shard, run, *forgotten + 1));
    }
    // The number of the last event so far: unique, and in the order of time.
    auto number = state.progress.events;
    if (seen.has_added()) {
        auto record = std::string{};
        record.reserve(16 + seen.added().size() * 16);
        auto out = Encoder{record};
        out.u8(run_format);
        out.i64(seen.added_period().time_since_epoch().count());
        for (const auto& print : seen.added()) {
            out.u64(print.high);
            out.u64(print.low);
        }
        batch.put(keys::seen(shard, run, number), record);
    }
    seen.mark_written(number);
}

Result<void> load_seen(const store::Store& store, ShardId shard, const RunName& run,
                       RunState& state) {
    auto prefix = keys::seen_of(shard, run);
    auto cursor = store.scan(prefix, keys::end_of(prefix));
    auto prints = std::vector<Fingerprint>{};
    for (; cursor->is_valid(); cursor->next()) {
        auto number = TRY(Decoder{cursor->key().substr(prefix.size())}.u64());
        auto in = Decoder{cursor->value()};
        TRY(in.format(run_format, "record of ids"));
        auto period = Time{Nanos{TRY(in.i64())}};
        prints.clear();
        while (!in.is_at_end()) {
            auto print = Fingerprint{};
            print.high = TRY(in.u64());
            print.low = TRY(in.u64());
            prints.push_back(print);
        }
        state.seen.restore(number, period, prints);
    }
    return cursor->status();
}

/// Reads one key of a run's state into its place.
class EntityLoader {
public:
    explicit EntityLoader(RunState& state) : state_(state) {}

    Result<void> load(std::string_view rest, std::string_view value) {
        auto in = Decoder{rest};
        auto letter = static_cast<char>(TRY(in.u8()));
        switch (letter) {
            case 'i': return read_record(value, state_.info);
            case 'p': return read_record(value, state_.progress);
            case 'c': return read_record(value, state_.context);
            case 't': return load_trigger(in, value);
            case 's': return load_scope(in.rest(), value);
            case 'k': return load_task(in, value);
            case 'm': return load_timer(in, value);
            case 'e': return load_into(state_.kept, in, value);
            case 'q': return read_record(value, state_.queue.emplace_back());
            case 'n': return load_into(state_.continuations, in, value);
            case 'o': return load_into(state_.continuation_next, in, value);
            case 'v': return load_into(state_.overrides, in, value);
            case 'h': return load_into(state_.holds, in, value);
            case 'l': return load_collected(in, value);
            case 'a': return read_record(value, state_.place.emplace());
            case 'z': return load_sequences(value);
            default: return fail(Errc::Corrupt, "unknown letter {} in a run's state", letter);
        }
    }

private:
    /// A map whose key is a number: four bytes for triggers, eight for the rest.
    template <typename Map>
    Result<void> load_into(Map& map, Decoder& in, std::string_view value) {
        using Key = typename Map::key_type;
        auto key = Key{};
        if constexpr (std::is_same_v<Key, trigger::TriggerNumber>) {
            key = Key{TRY(in.u32())};
        } else {
            key = Key{TRY(in.u64())};
        }
        return read_record(value, map[key]);
    }

    Result<void> load_trigger(Decoder& in, std::string_view value) {
        auto scope = trigger::Incarnation{TRY(in.u64())};
        auto number = TRY(in.u32());
        auto& states =
            scope == trigger::root_scope ? state_.root_triggers : state_.scoped_triggers[scope];
        if (!in.is_at_end()) {
            return load_group(states, number, value);
        }
        auto& state = states[number];
        state.stored = trigger::TriggerState::Stored::Alone;
        return read_record(value, state);
    }

    Result<void> load_group(trigger::TriggerStates& states, std::uint32_t first,
                            std::string_view value) {
        auto in = Decoder{value};
        TRY(in.format(group_format, "record of a group of triggers"));
        while (!in.is_at_end()) {
            auto slot = TRY(in.u8());
            if (slot >= trigger::TriggerStates::group_size) {
                return fail(Errc::Corrupt, "a group of triggers has a member {}", slot);
            }
            auto& state = states[first + slot];
            state.stored = trigger::TriggerState::Stored::WithGroup;
            auto reader = value::ArchiveReader{in};
            reader.read(state);
            TRY(reader.status());
        }
        return {};
    }

    Result<void> load_scope(std::string_view path, std::string_view value) {
        auto& scope = state_.scopes[std::string{path}];
        TRY(read_record(value, scope));
        state_.link(std::string{path}, scope);
        return {};
    }

    Result<void> load_task(Decoder& in, std::string_view value) {
        auto fire = trigger::FireNumber{TRY(in.u64())};
        auto key = trigger::TaskKey{.fire = fire, .index = TRY(in.u64())};
        auto& task = state_.tasks[key];
        TRY(read_record(value, task));
        state_.members[task.scope].tasks.insert(key);
        return {};
    }

    Result<void> load_timer(Decoder& in, std::string_view value) {
        auto number = trigger::TimerNumber{TRY(in.u64())};
        auto& timer = state_.timers[number];
        TRY(read_record(value, timer));
        state_.members[timer.scope].timers.insert(number);
        return {};
    }

    Result<void> load_collected(Decoder& in, std::string_view value) {
        auto key = trigger::CollectedKey{.scope = trigger::Incarnation{TRY(in.u64())}};
        key.trigger = trigger::TriggerNumber{TRY(in.u32())};
        key.block = TRY(in.u32());
        return read_record(value, state_.collected[key]);
    }

    Result<void> load_sequences(std::string_view value) {
        auto in = Decoder{value};
        TRY(in.format(sequences_format, "record of sequences"));
        while (!in.is_at_end()) {
            auto source = std::string{TRY(in.text())};
            state_.sequences[std::move(source)] = TRY(in.varint());
        }
        return {};
    }

    RunState& state_;
};

} // namespace

std::string number_record(std::uint64_t number) {
    auto record = std::string{};
    auto out = Encoder{record};
    out.u8(number_format);
    out.u64(number);
    return record;
}

Result<std::uint64_t> read_number(std::string_view record) {
    auto in = Decoder{record};
    TRY(in.format(number_format, "number of a stream"));
    return in.u64();
}

Result<std::optional<trigger::RunProgress>> load_progress(const store::Store& store, ShardId shard,
                                                          const RunName& run) {
    auto key = keys::entity(keys::run(shard, run), {.table = Table::Progress});
    auto record = TRY(store.get(key));
    if (!record) {
        return std::nullopt;
    }
    auto progress = trigger::RunProgress{};
    if (auto read = read_record(*record, progress); !read) {
        return fail(read.error().code, "run {}: {}", run.id, read.error().message);
    }
    return progress;
}

Result<std::unique_ptr<RunState>> load_run(const store::Store& store, ShardId shard,
                                           const RunName& run) {
    auto prefix = keys::run(shard, run);
    // A single key tells a run that is not there far more cheaply than a scan.
    auto progress = TRY(store.get(keys::entity(prefix, {.table = Table::Progress})));
    if (!progress) {
        return std::unique_ptr<RunState>{};
    }
    auto state = std::make_unique<RunState>();
    state->id = run.id;
    auto loader = EntityLoader{*state};
    auto cursor = store.scan(prefix, keys::end_of(prefix));
    for (; cursor->is_valid(); cursor->next()) {
        auto loaded = loader.load(cursor->key().substr(prefix.size()), cursor->value());
        if (!loaded) {
            return fail(loaded.error().code, "run {}: {}", run.id, loaded.error().message);
        }
    }
    TRY(cursor->status());
    TRY(load_seen(store, shard, run, *state));
    auto first = state->queue.empty() ? state->progress.emitted + 1 : state->queue.front().number;
    state->queue_stored_first = first;
    state->queue_stored_end = state->progress.emitted + 1;
    state->is_stored = true;
    return state;
}

void write_dirty(RunState& state, ShardId shard, const RunName& run, store::Batch& whole) {
    auto first_writes = FirstWrites{whole};
    store::Batch& batch = state.is_stored ? whole : first_writes;
    auto run_key = keys::run(shard, run);
    write_timers(state, shard, run, batch);
    write_triggers(state, run_key, batch);
    std::ranges::sort(state.dirty);
    auto repeated = std::ranges::unique(state.dirty);
    state.dirty.erase(repeated.begin(), repeated.end());
    auto records = EntityRecords{state};
    for (const auto& entity : state.dirty) {
        auto key = keys::entity(run_key, entity);
        if (entity.table == Table::Contexts) {
            auto end = keys::end_of(key);
            batch.remove_range(key, end);
            continue;
        }
        if (auto record = records.of(entity)) {
            batch.put(key, *record);
        } else {
            batch.remove(key);
        }
    }
    auto progress = DirtyEntity{.table = Table::Progress};
    batch.put(keys::entity(run_key, progress), *records.of(progress));
    write_queue(state, run_key, batch);
    write_seen(state, shard, run, batch);
    if (state.has_sequences_changed) {
        auto record = std::string{};
        auto out = Encoder{record};
        out.u8(sequences_format);
        for (const auto& [source, number] : state.sequences) {
            out.text(source);
            out.varint(number);
        }
        batch.put(keys::sequences(run_key), record);
    }
    state.mark_clean();
}

void remove_run(const RunState& state, ShardId shard, const RunName& run, store::Batch& batch) {
    for (const auto& prefix : {keys::run(shard, run), keys::history_of(shard, run),
                               keys::seen_of(shard, run), keys::checkpoints_of(shard, run)}) {
        batch.remove_range(prefix, keys::end_of(prefix));
    }
    for (const auto& [number, timer] : state.timers) {
        auto domain = timer.is_absolute ? keys::TimeDomain::Civil : keys::TimeDomain::Steady;
        batch.remove(keys::timer(shard, domain, timer.due, run, number));
    }
    batch.remove(keys::ready(shard, run));
}

} // namespace sluice::engine
