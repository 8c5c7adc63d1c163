#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/ids.h"
#include "trigger/ids.h"
#include "trigger/state.h"

namespace sluice::engine {

/// Names a run: its namespace and its id in it.
struct RunName {
    std::string space = "default";
    std::string id;

    auto operator<=>(const RunName&) const = default;
};

/// The shard of a run: the hash of its placement key, which is its id, or what stands before `~` in
/// it.
ShardId shard_of(const RunName& run, std::uint16_t shard_count);

/// Every key we store, in order: docs/formats/keys.md. The first bytes are the shard, then a letter
/// for the table.
namespace keys {

inline constexpr auto catalog_shard = ShardId{0xFFFF}; ///< What belongs to no shard: definitions.

std::string table(ShardId shard, char letter);
/// Just behind every key that begins with this one.
std::string end_of(std::string prefix);

/// All state of a run lies behind this, so that one scan loads it.
std::string run(ShardId shard, const RunName& run);
/// Trigger states of one scope share a prefix.
/// Of the plain states in a group, by the number of the first.
std::string trigger_group(std::string_view run_key, trigger::Incarnation scope,
                          trigger::TriggerNumber first);
std::string trigger_state(std::string_view run_key, trigger::Incarnation scope,
                          trigger::TriggerNumber number);
/// Any other entity of a run's state.
std::string entity(std::string_view run_key, const trigger::DirtyEntity& entity);
std::string queued(std::string_view run_key, std::uint64_t number);
std::string sequences(std::string_view run_key);

std::string history(ShardId shard, const RunName& run, std::uint64_t first_event);
std::string history_of(ShardId shard, const RunName& run);
std::string seen(ShardId shard, const RunName& run, std::uint64_t first_event);
std::string seen_of(ShardId shard, const RunName& run);

enum class TimeDomain : std::uint8_t { Steady = 0, Civil = 1 };
std::string timer(ShardId shard, TimeDomain domain, Time due, const RunName& run,
                  trigger::TimerNumber number);
std::string timers_in(ShardId shard, TimeDomain domain);
std::string outbox(ShardId shard, std::uint64_t commit);
std::string position(ShardId shard, std::string_view partition);
/// A run with work carried over: the rest of its queue, or a long action.
std::string ready(ShardId shard, const RunName& run);
std::string shard_time(ShardId shard);
/// Numbers of the stream to or from another shard.
std::string stream_sent(ShardId shard, ShardId receiver);
std::string stream_taken(ShardId shard, ShardId sender);
/// An event of a numbered source that no run was there for.
std::string quarantined(ShardId shard, Time since, std::uint64_t number,
                        std::string_view partition);
/// When a run may go; or, with the event of a checkpoint, what lies before that.
std::string expiry(ShardId shard, Time when, const RunName& run, std::uint64_t checkpoint = 0);
/// A run's checkpoints, the last first.
std::string checkpoint(ShardId shard, const RunName& run, std::uint64_t event);
std::string checkpoints_of(ShardId shard, const RunName& run);

/// Runs that the run index lists together: all, those of a definition, with a label, or both.
struct IndexPart {
    std::string_view definition{}; ///< Empty: any.
    std::string_view label{};      ///< Empty: any.
    std::string_view value{};      ///< Of the label.

    bool is_whole() const { return definition.empty() && label.empty(); }
};
/// By the time that a run started or ended at, newest first.
enum class IndexOrder : std::uint8_t { Started = 0, Ended = 1 };
std::string index_order(ShardId shard, std::string_view space, IndexOrder order);
std::string index_part(ShardId shard, std::string_view space, const IndexPart& part,
                       IndexOrder order, trigger::Status status);
/// A part with a run's place behind it.
std::string index_entry(ShardId shard, std::string_view space, const IndexPart& part,
                        IndexOrder order, trigger::Status status, Time time, std::string_view id);
/// Behind a part: a run's place in it, and how all places of that time begin.
std::string index_place(Time time, std::string_view id);
std::string index_time(Time time);

/// What tokens are sealed with: token.h.
std::string secret();
std::string definition_set(std::string_view hash);
std::string definition_name(std::string_view space, std::string_view name);
std::string definitions_of(std::string_view space);
/// What a name has meant, the last first.
std::string definition_version(std::string_view space, std::string_view name, std::uint64_t number);
std::string definition_versions(std::string_view space, std::string_view name);
std::string definition_versions_of(std::string_view space);
/// What people set up beside runs, and how all of a kind begin.
std::string document(std::string_view kind, std::string_view space, std::string_view name);
std::string documents_of(std::string_view kind);
/// A record of the audit, the last first, and how all of them begin.
std::string audit(std::uint64_t number);
std::string audits();

/// Reads a run's name behind a prefix of a key.
Result<RunName> read_run(Decoder& in);

} // namespace keys

} // namespace sluice::engine
