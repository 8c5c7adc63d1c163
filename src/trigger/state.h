#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/container/deque.hpp>

#include "base/clock.h"
#include "base/fingerprint.h"
#include "event/event.h"
#include "trigger/ids.h"
#include "trigger/internal/seen_ids.h"
#include "trigger/internal/trigger_states.h"
#include "value/value.h"

namespace sluice::trigger {

enum class Status : std::uint8_t {
    Running,
    Succeeded,
    Failed,
    Cancelled,
    TimedOut,
    Queued, ///< Started, and waits for a place among the runs of its definition.
};
std::string_view to_string(Status status);

/// Where a run's end is reported: the task of another run that started it.
struct Parent {
    std::string run;
    FireNumber fire;
    std::uint64_t index = 0;
    std::uint32_t attempt = 1;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("run", run)("fire", fire)("index", index)("attempt", attempt);
    }
};

/// The label of a run that has a priority: its tasks have it unless they say otherwise.
inline constexpr auto priority_label = std::string_view{"sluice.priority"};

/// What a run was started with. A new generation has its number and may have other input.
struct RunInfo {
    std::string definition; ///< Its name.
    std::string set; ///< Hash of the trigger set the run is pinned to; empty: started without one.
    Value input;
    Value labels;
    Time started{};
    std::optional<Parent> parent;
    std::string forked_from; ///< `run@event`, or empty.
    std::uint32_t generation = 1;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("definition", definition)("set", set)("input", input)("labels", labels)(
            "started", started)("parent", parent)("forked_from", forked_from)("generation",
                                                                              generation);
    }
};

/// What a run that continues as new hands to its next generation.
struct Renewal {
    Value input;
    Value context;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("input", input)("context", context);
    }
};

/// The numbers and the status that most commits change. Numbers are never given again, also not by
/// a later generation.
struct RunProgress {
    Status status = Status::Running;
    std::uint64_t events = 0;        ///< Taken so far: the next one's number is one more.
    std::uint64_t fires = 0;         ///< The last fire number.
    std::uint64_t incarnations = 0;  ///< The last incarnation.
    std::uint64_t timers = 0;        ///< The last timer number.
    std::uint64_t continuations = 0; ///< The last continuation's number.
    std::uint64_t emitted = 0;       ///< The last number in the run's own queue.
    std::uint64_t duplicates = 0;
    std::uint64_t own_events =
        0; ///< Since the last outside event: the budget against endless self-emission.
    std::uint64_t kept_bytes = 0;
    bool is_cancelling = false;
    std::optional<Time> ended;
    Value result;
    Value error;                              ///< {kind, message, …} when it ended without success.
    std::optional<Time> ids_forgotten_before; ///< Dedupe is exact only for ids since then.
    std::optional<Renewal> renewal;           ///< This generation is over, the next not yet begun.
    bool is_sweeping = false; ///< It is over, and what it had open is not yet all gone.

    template <typename Archive>
    void fields(Archive& archive) {
        archive("status", status)("events", events)("fires", fires)("incarnations", incarnations)(
            "timers", timers)("continuations", continuations)("emitted", emitted)(
            "duplicates", duplicates)("own_events", own_events)("kept_bytes", kept_bytes)(
            "is_cancelling", is_cancelling)("ended", ended)("result", result)("error", error)(
            "ids_forgotten_before", ids_forgotten_before)("renewal", renewal)("is_sweeping",
                                                                              is_sweeping);
    }
};

/// Closing a scope is one mark: it goes by this path until it is swept. What is inside keeps its
/// paths and is dead with it.
std::string closed_path(Incarnation scope);
bool is_closed_path(std::string_view path);

/// A part of a run with contexts of its own. Alive while its parent is alive under the incarnation
/// it was opened in.
struct ScopeState {
    Incarnation incarnation;
    Incarnation parent;
    Value variables;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("incarnation", incarnation)("parent", parent)("variables", variables);
    }
};

/// A call of a function, a nested run, or an event on its way to a sink.
enum class TaskKind : std::uint8_t { Call, Run, Sink };

struct TaskKey {
    FireNumber fire;
    std::uint64_t index = 0;

    auto operator<=>(const TaskKey&) const = default;
    template <typename Archive>
    void fields(Archive& archive) {
        archive("fire", fire)("index", index);
    }
};

/// An invocation that has not been answered: a call of a function, or a nested run.
struct TaskState {
    TaskKind kind = TaskKind::Call;
    std::string target;  ///< The function, or the definition of the nested run.
    std::string child;   ///< Id of the nested run.
    std::string subject; ///< Of the events that report on it.
    Value input;
    /// `timeout`, `retry`, `priority`, `pool`, `slots` as the action gave them, `traceparent` of
    /// the event; null: none of them.
    Value policy;
    std::uint32_t attempt = 1;
    bool is_waiting = false; ///< For its next attempt's time.
    Incarnation scope;
    TriggerNumber trigger;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("kind", kind)("target", target)("child", child)("subject", subject)("input", input)(
            "policy", policy)("attempt", attempt)("is_waiting", is_waiting)("scope", scope)(
            "trigger", trigger);
    }
};

enum class TimerPurpose : std::uint8_t {
    Author,
    Deadline,
    Retry,
    RunTimeout,
    CancelGrace,
    KeptTtl
};

struct TimerState {
    TimerPurpose purpose = TimerPurpose::Author;
    std::string name;
    bool is_absolute = false; ///< Due by civil time; otherwise by the shard's steady time.
    Time due{};
    Nanos period{0}; ///< Zero: fires once.
    std::uint64_t occurrence = 1;
    Incarnation scope;
    TriggerNumber trigger; ///< Who set it, or whose deadline it is.
    TaskKey task;          ///< Of a retry.
    std::string type;      ///< Of the event it fires.
    std::string subject;
    Value data;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("purpose", purpose)("name", name)("is_absolute", is_absolute)("due", due)(
            "period", period)("occurrence", occurrence)("scope", scope)("trigger", trigger)(
            "task", task)("type", type)("subject", subject)("data", data);
    }
};

enum class KeptReason : std::uint8_t { Disabled, Unmatched, Held, Failed };
std::string_view to_string(KeptReason reason);

/// The run that sent an event to another, and what the event is to it: where a reply goes.
struct Sender {
    std::string run;
    TaskKey key;       ///< Fire and index of the event.
    Incarnation scope; ///< It was sent from.
    TriggerNumber trigger;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("run", run)("key", key)("scope", scope)("trigger", trigger);
    }
};

/// An event that waits with its run.
struct KeptEvent {
    KeptReason reason = KeptReason::Disabled;
    Time since{};
    std::string json;
    Incarnation scope;            ///< It is late when this is closed before it is delivered.
    std::optional<Sender> sender; ///< When another run sent it.

    template <typename Archive>
    void fields(Archive& archive) {
        archive("reason", reason)("since", since)("json", json)("scope", scope)("sender", sender);
    }
};

/// An event on its way to the own run.
struct QueuedEvent {
    std::uint64_t number = 0;
    Incarnation scope; ///< It is late when this is closed before it is handled.
    std::string json;
    event::Event event; ///< The same, parsed; empty when it was read from the store.

    template <typename Archive>
    void fields(Archive& archive) {
        archive("number", number)("scope", scope)("json", json);
    }
};

/// The rest of an action that is done in slices. Its list is fixed.
struct Continuation {
    TriggerNumber trigger;
    FireNumber fire;
    Incarnation scope;
    std::uint32_t action = 0; ///< Which of the trigger's actions.
    std::uint64_t base = 0;   ///< Index of its first item among the firing's tasks and messages.
    Value items;              ///< A list, or the number of items.
    std::string event;        ///< JSON of the event that fired it.
    event::Event parsed;      ///< The same, once a slice has needed it.

    template <typename Archive>
    void fields(Archive& archive) {
        archive("trigger", trigger)("fire", fire)("scope", scope)("action", action)("base", base)(
            "items", items)("event", event);
    }
};

/// A trigger added or changed at run time; removed when it has no form.
struct TriggerOverride {
    Value form; ///< As parse_trigger reads it; null: removed.

    template <typename Archive>
    void fields(Archive& archive) {
        archive("form", form);
    }
};

/// Outside events of this scope wait while it is held; the holder's own answers pass.
struct Hold {
    TriggerNumber by;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("by", by);
    }
};

/// A run's place among those of its definition: docs/reference/strategies.md.
struct Place {
    std::uint32_t asked =
        0; ///< The generation that asked for it: answers to earlier ones are late.
    bool is_given = false;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("asked", asked)("is_given", is_given);
    }
};

/// Where a block of collected values stands.
struct CollectedKey {
    Incarnation scope;
    TriggerNumber trigger;
    std::uint64_t block = 0;

    auto operator<=>(const CollectedKey&) const = default;
    template <typename Archive>
    void fields(Archive& archive) {
        archive("scope", scope)("trigger", trigger)("block", block);
    }
};

/// Values that a trigger collects one by one, each at its place: what the items of a map gave. A
/// commit writes the blocks that changed, and history has each value once.
struct CollectedBlock {
    static constexpr auto size = std::uint64_t{64};

    std::uint64_t present = 0; ///< A bit for each place.
    std::vector<Value> values; ///< By place; those that are missing are null.

    template <typename Archive>
    void fields(Archive& archive) {
        archive("present", present)("values", values);
    }
};

/// What a commit must write again.
enum class Table : std::uint8_t {
    Info,
    Progress,
    Context,
    Contexts, ///< first: incarnation; all trigger states of a closed scope.
    Scope,    ///< path.
    Task,     ///< first: fire number, second: index.
    Timer,    ///< first: timer number.
    Kept,     ///< first: event number.
    Continuation,
    ContinuationNext,
    Override,  ///< first: trigger number.
    Hold,      ///< first: incarnation.
    Collected, ///< first: incarnation, second: trigger number, then block (32 bits each).
    Place,
};

struct DirtyEntity {
    Table table = Table::Progress;
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    std::string path{};

    auto operator<=>(const DirtyEntity&) const = default;
};

/// A trigger's state in a scope, as the most frequent of the dirty.
struct DirtyTrigger {
    Incarnation scope;
    TriggerNumber trigger;

    auto operator<=>(const DirtyTrigger&) const = default;
};

/// A timer that no longer stands: what its place in the order of due times was.
struct RemovedTimer {
    TimerNumber number;
    bool is_absolute = false;
    Time due{};
};

/// What a scope's closing must find again.
struct ScopeMembers {
    std::set<TaskKey> tasks;
    std::set<TimerNumber> timers;
    std::set<std::string> children; ///< Paths.

    bool is_empty() const { return tasks.empty() && timers.empty() && children.empty(); }
};

/// Everything a run is, in memory. Changed by `apply` alone (apply.h); what changed since the last
/// commit is listed in `dirty`, so that a commit costs what changed and not what there is.
struct RunState {
    std::string id;
    RunInfo info;
    RunProgress progress;
    Value context; ///< The run's own, a map.

    TriggerStates root_triggers;
    std::map<Incarnation, TriggerStates> scoped_triggers;
    std::map<std::string, ScopeState, std::less<>> scopes; ///< By path; the root is not listed.
    std::map<Incarnation, std::string> scope_paths;        ///< Of live scopes.
    std::map<Incarnation, ScopeMembers> members;
    std::size_t closed_scopes = 0; ///< Not yet swept: those that have a path no author can write.
    std::map<TaskKey, TaskState> tasks;
    std::map<TimerNumber, TimerState> timers;
    std::map<EventNumber, KeptEvent> kept;
    std::map<std::uint64_t, Continuation> continuations;
    std::map<std::uint64_t, std::uint64_t> continuation_next;
    std::map<TriggerNumber, TriggerOverride> overrides;
    std::map<Incarnation, Hold> holds;
    std::map<CollectedKey, CollectedBlock> collected;
    std::optional<Place> place; ///< Nothing: it stands under no strategy, or has ended.
    boost::container::deque<QueuedEvent> queue; ///< Emitted to the own run and not yet handled.

    SeenIds seen;
    std::map<std::string, std::uint64_t, std::less<>>
        sequences; ///< By source, for dedupe by number.

    std::vector<DirtyEntity> dirty;
    std::vector<DirtyTrigger> dirty_triggers; ///< Each once.
    std::vector<RemovedTimer> removed_timers;
    bool has_sequences_changed = false;
    std::uint64_t batch = 1;              ///< Counts commits, for `dirty_since`.
    bool is_stored = false;               ///< A commit has written it.
    std::uint64_t queue_stored_first = 1; ///< Queue numbers that the store has: [first, end).
    std::uint64_t queue_stored_end = 1;

    /// By an operator.
    bool is_paused() const { return holds.contains(paused_run); }
    bool is_queued() const { return progress.status == Status::Queued; }
    bool has_ended() const { return progress.status != Status::Running && !is_queued(); }
    /// Its generation is: it has ended, or is about to continue as new.
    bool is_over() const { return has_ended() || progress.renewal.has_value(); }

    /// What triggers remember in a scope; null when none has seen anything there.
    const TriggerStates* triggers_in(Incarnation scope) const;
    /// Null when the trigger has nothing to remember in this scope.
    const TriggerState* find_trigger(Incarnation scope, TriggerNumber trigger) const;
    TriggerState* find_trigger(Incarnation scope, TriggerNumber trigger) {
        return const_cast<TriggerState*>(std::as_const(*this).find_trigger(scope, trigger));
    }
    /// What a trigger has collected in a scope, up to its last place; null where nothing is.
    std::vector<Value> collected_by(Incarnation scope, TriggerNumber trigger) const;
    /// The path of a live scope, empty for the root; null when the scope is closed.
    const std::string* path_of(Incarnation scope) const;
    /// The incarnation of a live scope.
    std::optional<Incarnation> scope_at(std::string_view path) const {
        return path.empty() ? std::optional{root_scope} : nested_scope_at(path);
    }
    bool has_work() const {
        return !queue.empty() || !continuations.empty() || progress.renewal.has_value() ||
               has_unswept();
    }
    /// Tasks, timers or contexts that are closed, though they are still there.
    bool has_unswept() const { return progress.is_sweeping || closed_scopes > 0; }
    /// Of a run that is over: without success its contexts stay, frozen.
    bool drops_contexts() const { return !has_ended() || progress.status == Status::Succeeded; }
    /// Somebody still waits for it.
    bool is_open(const TaskState& task) const;
    /// Puts a scope that stands in `scopes` among its relatives.
    void link(const std::string& path, const ScopeState& scope);
    void mark(DirtyEntity entity) { dirty.push_back(std::move(entity)); }
    /// After a commit took what is dirty.
    void mark_clean();
    /// What was listed as changed leaves little room behind: little more will be.
    void release_room();
    /// As a new one, in the same memory.
    void clear();

private:
    bool is_live(std::string_view path) const;
    std::optional<Incarnation> nested_scope_at(std::string_view path) const;
};

} // namespace sluice::trigger
