#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/bytes.h"
#include "trigger/ids.h"
#include "trigger/state.h"
#include "value/value.h"

namespace sluice::trigger {

/// What deciding one event did to a run, one small struct each, in the order it happened. History
/// keeps them, so that a run's state at any event follows from applying them, without the code that
/// decided.
///
/// Their places in `Change` and the order of their fields are stored: new ones go last.

/// An event met a trigger. Most events of a join are just this.
struct Activated {
    Incarnation scope;
    TriggerNumber trigger;
    std::uint64_t progress = 0;
    std::optional<Fingerprint> seen;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("scope", scope)("trigger", trigger)("progress", progress)("seen", seen);
    }
};

struct Fired {
    Incarnation scope;
    TriggerNumber trigger;
    FireNumber fire;
    bool is_gone = false; ///< Transient: it is gone in this scope.

    template <typename Archive>
    void fields(Archive& archive) {
        archive("scope", scope)("trigger", trigger)("fire", fire)("is_gone", is_gone);
    }
};

/// A condition or an action failed for the author's reasons.
struct Faulted {
    TriggerNumber trigger;
    std::string code;
    std::string message;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("trigger", trigger)("code", code)("message", message);
    }
};

struct Switched {
    Incarnation scope;
    TriggerNumber trigger;
    Switch enabled = Switch::On;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("scope", scope)("trigger", trigger)("enabled", enabled);
    }
};

struct Remembered {
    Incarnation scope;
    TriggerNumber trigger;
    Value memory;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("scope", scope)("trigger", trigger)("memory", memory);
    }
};

/// A trigger was added, changed, or (form is null) removed.
struct Overridden {
    TriggerNumber trigger;
    Value form;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("trigger", trigger)("form", form);
    }
};

struct ContextSet {
    Value context;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("context", context);
    }
};

struct ScopeOpened {
    std::string path;
    ScopeState scope;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("path", path)("scope", scope);
    }
};

/// One mark: nested scopes, tasks and timers of it are dead from here on.
struct ScopeClosed {
    std::string path;
    bool is_swept = true; ///< They are gone with it; otherwise they go in slices.

    template <typename Archive>
    void fields(Archive& archive) {
        archive("path", path)("is_swept", is_swept);
    }
};

struct VariablesSet {
    std::string path;
    Value variables;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("path", path)("variables", variables);
    }
};

struct TaskOpened {
    TaskKey key;
    TaskState task;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("key", key)("task", task);
    }
};

struct TaskClosed {
    TaskKey key;
    bool is_cancelled = false; ///< Nobody waits for its answer any more: it is told to stop.
    TaskKind kind = TaskKind::Call;
    std::string child;
    std::uint32_t attempt = 1;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("key", key)("is_cancelled", is_cancelled)("kind", kind)("child", child)("attempt",
                                                                                        attempt);
    }
};

/// A failed attempt is to be followed by another, when its timer fires (is_waiting) or now.
struct TaskRetried {
    TaskKey key;
    std::uint32_t attempt = 1;
    bool is_waiting = true;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("key", key)("attempt", attempt)("is_waiting", is_waiting);
    }
};

struct TimerSet {
    TimerNumber number;
    TimerState timer;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("number", number)("timer", timer);
    }
};

struct TimerRemoved {
    TimerNumber number;
    bool is_absolute = false;
    Time due{};

    template <typename Archive>
    void fields(Archive& archive) {
        archive("number", number)("is_absolute", is_absolute)("due", due);
    }
};

/// The event being decided (or an earlier one again) waits with the run.
struct EventKept {
    EventNumber number;
    KeptEvent event;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("number", number)("event", event);
    }
};

/// A kept event left: it is delivered now, or its time to live is over.
struct EventReleased {
    EventNumber number;
    bool is_expired = false;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("number", number)("is_expired", is_expired);
    }
};

/// An event for the own run, to be handled before the next outside one.
struct Emitted {
    QueuedEvent event;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("event", event);
    }
};

/// An event for another run; leaves by the outbox. One for a sink is a task, since its sink
/// answers.
struct Sent {
    std::string target;
    std::string json;
    TaskKey key; ///< Fire and index: its idempotency key.
    Incarnation scope{};
    TriggerNumber trigger{};

    template <typename Archive>
    void fields(Archive& archive) {
        archive("target", target)("json", json)("key", key)("scope", scope)("trigger", trigger);
    }
};

struct Continued {
    std::uint64_t number = 0;
    Continuation continuation;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("number", number)("continuation", continuation);
    }
};

/// How far a continuation is; at its end it is removed.
struct Advanced {
    std::uint64_t number = 0;
    std::uint64_t next = 0;
    bool is_done = false;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("number", number)("next", next)("is_done", is_done);
    }
};

struct HoldSet {
    Incarnation scope;
    TriggerNumber by;
    bool is_held = true;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("scope", scope)("by", by)("is_held", is_held);
    }
};

struct Cancelling {
    template <typename Archive>
    void fields(Archive& /*archive*/) {}
};

/// The run is over. The termination event to its parent follows from it.
struct Ended {
    Status status = Status::Succeeded;
    Time at{};
    Value result;
    Value error;
    bool is_swept = true; ///< What it had open is gone with it; otherwise that goes in slices.

    template <typename Archive>
    void fields(Archive& archive) {
        archive("status", status)("at", at)("result", result)("error", error)("is_swept", is_swept);
    }
};

/// An answer to whoever sent the event being decided, given after the commit.
struct Replied {
    Value data;
    std::optional<Sender> to; ///< Nothing: whoever waits for the event's fate.

    template <typename Archive>
    void fields(Archive& archive) {
        archive("data", data)("to", to);
    }
};

/// The run was started: everything it is follows from this.
struct Began {
    RunInfo info;
    Value context;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("info", info)("context", context);
    }
};

/// A run begins as another was at one of its events: all it is, as one image (state_image.h).
struct Forked {
    std::string image; ///< In which relative timers have the time they had left.
    std::string from;  ///< `run@event`
    Time steady{};     ///< Of the shard, when the fork began.

    template <typename Archive>
    void fields(Archive& archive) {
        archive("image", image)("from", from)("steady", steady);
    }
};

/// The run continues as new: this generation is over, and no termination event tells of it.
struct Renewing {
    Renewal renewal;
    bool is_swept = true; ///< As of Ended.

    template <typename Archive>
    void fields(Archive& archive) {
        archive("renewal", renewal)("is_swept", is_swept);
    }
};

/// The next generation begins: all that it takes over, as one image, so that history may begin
/// here.
struct Renewed {
    std::uint32_t generation = 1;
    std::string image;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("generation", generation)("image", image);
    }
};

/// A run that had ended without success goes on, with what it remembers.
struct Reopened {
    std::uint32_t generation = 1;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("generation", generation);
    }
};

/// Nothing is left of a closed scope but its contexts, which go now. The root (no path) comes last:
/// the run is swept.
struct Swept {
    std::string path;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("path", path);
    }
};

/// A trigger collected a value.
struct Collected {
    Incarnation scope;
    TriggerNumber trigger;
    std::uint64_t index = 0; ///< Below 2^32 blocks.
    Value value;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("scope", scope)("trigger", trigger)("index", index)("value", value);
    }
};

/// What a trigger has collected is gone.
struct CollectionDropped {
    Incarnation scope;
    TriggerNumber trigger;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("scope", scope)("trigger", trigger);
    }
};

/// The run asked for a place among those of its definition, was given it, or (nothing) has none.
struct PlaceSet {
    std::optional<Place> place;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("place", place);
    }
};

/// A task of another run waits for the end of this one from now on, as if it had started it.
struct Adopted {
    Parent parent;

    template <typename Archive>
    void fields(Archive& archive) {
        archive("parent", parent);
    }
};

using Change =
    std::variant<Activated, Fired, Faulted, Switched, Remembered, Overridden, ContextSet,
                 ScopeOpened, ScopeClosed, VariablesSet, TaskOpened, TaskClosed, TaskRetried,
                 TimerSet, TimerRemoved, EventKept, EventReleased, Emitted, Sent, Continued,
                 Advanced, HoldSet, Cancelling, Ended, Replied, Began, Forked, Renewing, Renewed,
                 Reopened, Swept, Collected, CollectionDropped, PlaceSet, Adopted>;

/// "fired", "timer set", …: what people see in histories.
std::string_view name_of(const Change& change);
/// Its name and fields as a map.
Value to_value(const Change& change);

void encode(const Change& change, Encoder& out);
void encode(const Activated& change, Encoder& out);
Result<Change> decode_change(Decoder& in);

} // namespace sluice::trigger
