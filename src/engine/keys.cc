#include "engine/keys.h"

#include "base/fingerprint.h"
#include "base/invariant.h"

namespace sluice::engine {

ShardId shard_of(const RunName& run, std::uint16_t shard_count) {
    auto key = std::string_view{run.id}.substr(0, run.id.find('~'));
    auto hash = hash64(key, hash64(run.space));
    return ShardId{static_cast<std::uint16_t>(hash % shard_count)};
}

namespace keys {

namespace {

using trigger::Table;

constexpr auto group_mark = 'g';

/// A length byte, then the text: names are at most 255 bytes, so a name is never a prefix of
/// another's key.
void put_name(Encoder& out, std::string_view name) {
    INVARIANT(name.size() <= 255, "names in keys are at most 255 bytes");
    out.u8(static_cast<std::uint8_t>(name.size()));
    out.raw(name);
}

void put_run(Encoder& out, const RunName& run) {
    put_name(out, run.space);
    put_name(out, run.id);
}

constexpr auto table_bytes = std::size_t{3};
constexpr auto number_bytes = std::size_t{8};

/// A key is made whole at once: a run that begins and ends has a dozen.
std::string begin_table(ShardId shard, char letter, std::size_t more_bytes) {
    auto key = std::string{};
    key.reserve(table_bytes + more_bytes);
    auto out = Encoder{key};
    out.u16(shard.raw());
    out.u8(static_cast<std::uint8_t>(letter));
    return key;
}

/// With room for a number behind it.
std::string run_table(ShardId shard, char letter, const RunName& run) {
    auto key = begin_table(shard, letter, run.space.size() + run.id.size() + 2 + number_bytes);
    auto out = Encoder{key};
    put_run(out, run);
    return key;
}

void put_index_order(Encoder& out, std::string_view space, IndexOrder order) {
    put_name(out, space);
    out.u8(static_cast<std::uint8_t>(order));
}

void put_index_part(Encoder& out, std::string_view space, const IndexPart& part, IndexOrder order,
                    trigger::Status status) {
    put_index_order(out, space, order);
    put_name(out, part.definition);
    put_name(out, part.label);
    put_name(out, part.value);
    out.u8(static_cast<std::uint8_t>(status));
}

void put_index_time(Encoder& out, Time time) {
    // The complement sorts later times first.
    out.i64(~time.time_since_epoch().count());
}

void put_index_place(Encoder& out, Time time, std::string_view id) {
    put_index_time(out, time);
    put_name(out, id);
}

char letter_of(Table table) {
    switch (table) {
        case Table::Info: return 'i';
        case Table::Progress: return 'p';
        case Table::Context: return 'c';
        case Table::Contexts: return 't';
        case Table::Scope: return 's';
        case Table::Task: return 'k';
        case Table::Timer: return 'm';
        case Table::Kept: return 'e';
        case Table::Continuation: return 'n';
        case Table::ContinuationNext: return 'o';
        case Table::Override: return 'v';
        case Table::Hold: return 'h';
        case Table::Collected: return 'l';
        case Table::Place: return 'a';
    }
    return '?';
}

} // namespace

std::string table(ShardId shard, char letter) {
    return begin_table(shard, letter, 0);
}

std::string end_of(std::string prefix) {
    while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xFF) {
        prefix.pop_back();
    }
    if (!prefix.empty()) {
        prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
    }
    return prefix;
}

std::string run(ShardId shard, const RunName& run) {
    return run_table(shard, 'R', run);
}

std::string entity(std::string_view run_key, const trigger::DirtyEntity& entity) {
    auto key = std::string{};
    key.reserve(run_key.size() + 17 + entity.path.size());
    key += run_key;
    auto out = Encoder{key};
    out.u8(static_cast<std::uint8_t>(letter_of(entity.table)));
    switch (entity.table) {
        case Table::Info:
        case Table::Progress:
        case Table::Context:
        case Table::Place: break;
        case Table::Collected:
        case Table::Task:
            out.u64(entity.first);
            out.u64(entity.second);
            break;
        case Table::Override: out.u32(static_cast<std::uint32_t>(entity.first)); break;
        case Table::Scope: out.raw(entity.path); break;
        default: out.u64(entity.first); break;
    }
    return key;
}

std::string trigger_state(std::string_view run_key, trigger::Incarnation scope,
                          trigger::TriggerNumber number) {
    auto key = std::string{};
    key.reserve(run_key.size() + 14);
    key += run_key;
    auto out = Encoder{key};
    out.u8('t');
    out.u64(scope.raw());
    out.u32(number.raw());
    return key;
}

std::string trigger_group(std::string_view run_key, trigger::Incarnation scope,
                          trigger::TriggerNumber first) {
    auto key = trigger_state(run_key, scope, first);
    key += group_mark;
    return key;
}

std::string queued(std::string_view run_key, std::uint64_t number) {
    auto key = std::string{run_key};
    auto out = Encoder{key};
    out.u8('q');
    out.u64(number);
    return key;
}

std::string sequences(std::string_view run_key) {
    return std::string{run_key} + "z";
}

std::string history_of(ShardId shard, const RunName& run) {
    return run_table(shard, 'H', run);
}

std::string history(ShardId shard, const RunName& run, std::uint64_t first_event) {
    auto key = history_of(shard, run);
    Encoder{key}.u64(first_event);
    return key;
}

std::string seen_of(ShardId shard, const RunName& run) {
    return run_table(shard, 'D', run);
}

std::string seen(ShardId shard, const RunName& run, std::uint64_t first_event) {
    auto key = seen_of(shard, run);
    Encoder{key}.u64(first_event);
    return key;
}

std::string timers_in(ShardId shard, TimeDomain domain) {
    auto key = table(shard, 'M');
    Encoder{key}.u8(static_cast<std::uint8_t>(domain));
    return key;
}

std::string timer(ShardId shard, TimeDomain domain, Time due, const RunName& run,
                  trigger::TimerNumber number) {
    auto key = timers_in(shard, domain);
    auto out = Encoder{key};
    out.i64(due.time_since_epoch().count());
    put_run(out, run);
    out.u64(number.raw());
    return key;
}

std::string outbox(ShardId shard, std::uint64_t commit) {
    auto key = table(shard, 'O');
    Encoder{key}.u64(commit);
    return key;
}

std::string position(ShardId shard, std::string_view partition) {
    return table(shard, 'P') + std::string{partition};
}

std::string ready(ShardId shard, const RunName& run) {
    return run_table(shard, 'W', run);
}

std::string shard_time(ShardId shard) {
    return table(shard, 'T');
}

std::string stream_sent(ShardId shard, ShardId receiver) {
    auto key = table(shard, 'L');
    auto out = Encoder{key};
    out.u8('s');
    out.u16(receiver.raw());
    return key;
}

std::string stream_taken(ShardId shard, ShardId sender) {
    auto key = table(shard, 'L');
    auto out = Encoder{key};
    out.u8('t');
    out.u16(sender.raw());
    return key;
}

std::string quarantined(ShardId shard, Time since, std::uint64_t number,
                        std::string_view partition) {
    auto key = table(shard, 'Q');
    auto out = Encoder{key};
    out.i64(since.time_since_epoch().count());
    out.u64(number);
    out.raw(partition);
    return key;
}

std::string expiry(ShardId shard, Time when, const RunName& run, std::uint64_t checkpoint) {
    auto key = begin_table(shard, 'G', 2 * number_bytes + run.space.size() + run.id.size() + 2);
    auto out = Encoder{key};
    out.i64(when.time_since_epoch().count());
    put_run(out, run);
    out.u64(checkpoint);
    return key;
}

std::string checkpoints_of(ShardId shard, const RunName& run) {
    return run_table(shard, 'C', run);
}

std::string checkpoint(ShardId shard, const RunName& run, std::uint64_t event) {
    auto key = checkpoints_of(shard, run);
    Encoder{key}.u64(~event);
    return key;
}

std::string index_order(ShardId shard, std::string_view space, IndexOrder order) {
    auto key = table(shard, 'X');
    auto out = Encoder{key};
    put_index_order(out, space, order);
    return key;
}

std::string index_part(ShardId shard, std::string_view space, const IndexPart& part,
                       IndexOrder order, trigger::Status status) {
    auto key = table(shard, 'X');
    auto out = Encoder{key};
    put_index_part(out, space, part, order, status);
    return key;
}

std::string index_entry(ShardId shard, std::string_view space, const IndexPart& part,
                        IndexOrder order, trigger::Status status, Time time, std::string_view id) {
    auto key = begin_table(shard, 'X',
                           space.size() + part.definition.size() + part.label.size() +
                               part.value.size() + id.size() + number_bytes + 7);
    auto out = Encoder{key};
    put_index_part(out, space, part, order, status);
    put_index_place(out, time, id);
    return key;
}

std::string index_place(Time time, std::string_view id) {
    auto place = std::string{};
    auto out = Encoder{place};
    put_index_place(out, time, id);
    return place;
}

std::string index_time(Time time) {
    auto place = std::string{};
    auto out = Encoder{place};
    put_index_time(out, time);
    return place;
}

std::string secret() {
    return table(catalog_shard, 'K');
}

std::string definition_set(std::string_view hash) {
    return table(catalog_shard, 'S') + std::string{hash};
}

std::string definitions_of(std::string_view space) {
    auto key = table(catalog_shard, 'N');
    auto out = Encoder{key};
    put_name(out, space);
    return key;
}

std::string definition_name(std::string_view space, std::string_view name) {
    auto key = definitions_of(space);
    auto out = Encoder{key};
    put_name(out, name);
    return key;
}

std::string definition_versions_of(std::string_view space) {
    auto key = table(catalog_shard, 'V');
    auto out = Encoder{key};
    put_name(out, space);
    return key;
}

std::string definition_versions(std::string_view space, std::string_view name) {
    auto key = definition_versions_of(space);
    auto out = Encoder{key};
    put_name(out, name);
    return key;
}

std::string definition_version(std::string_view space, std::string_view name,
                               std::uint64_t number) {
    auto key = definition_versions(space, name);
    auto out = Encoder{key};
    out.u64(~number);
    return key;
}

std::string documents_of(std::string_view kind) {
    auto key = table(catalog_shard, 'U');
    auto out = Encoder{key};
    put_name(out, kind);
    return key;
}

std::string document(std::string_view kind, std::string_view space, std::string_view name) {
    auto key = documents_of(kind);
    auto out = Encoder{key};
    put_name(out, space);
    put_name(out, name);
    return key;
}

std::string audits() {
    return table(catalog_shard, 'A');
}

std::string audit(std::uint64_t number) {
    auto key = audits();
    auto out = Encoder{key};
    out.u64(~number);
    return key;
}

Result<RunName> read_run(Decoder& in) {
    auto read_name = [&]() -> Result<std::string> {
        auto size = TRY(in.u8());
        return std::string{TRY(in.raw(size))};
    };
    auto space = TRY(read_name());
    auto id = TRY(read_name());
    return RunName{.space = std::move(space), .id = std::move(id)};
}

} // namespace keys

} // namespace sluice::engine
