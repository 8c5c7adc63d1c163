#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "expr/cel/template.h"
#include "expr/program.h"
#include "trigger/action.h"
#include "trigger/decider.h"
#include "trigger/internal/bindings.h"

namespace sluice::trigger {

/// One firing of a trigger, as its actions see it: what they may read, and what they may ask for.
class Firing {
public:
    Firing(Decider& decider, const event::Event& event, TriggerNumber trigger, Incarnation scope,
           FireNumber fire, std::uint64_t progress = 0);

    Decider& decider() { return decider_; }
    const RunState& state() const { return decider_.state(); }
    const event::Event& event() const { return event_; }
    /// The trace that the event belongs to; mostly none. Looked for once, since events may be
    /// large.
    const std::string& trace() const;
    Incarnation scope() const { return scope_; }
    TriggerNumber trigger() const { return trigger_; }
    FireNumber fire() const { return fire_; }
    /// What its condition had counted when it answered fire; 0 where it was not asked.
    std::uint64_t progress() const { return progress_; }
    void record(Change&& change) { decider_.record(std::move(change)); }

    Attempt<Value> evaluate(const expr::cel::Template& pattern) const;
    /// The same, and it must be a text.
    Attempt<std::string> evaluate_text(const expr::cel::Template& pattern,
                                       std::string_view what) const;

    /// A fault when this firing's scope was closed meanwhile: nothing lives there any more.
    Attempt<void> require_scope() const;
    /// A scope by its path as authors write it: nothing is the current one, `/a` absolute, `..` the
    /// one around, `a` inside.
    Attempt<std::string> scope_path(std::string_view written) const;
    Attempt<Incarnation> scope_named(std::string_view written) const;
    Attempt<Incarnation> open_scope(std::string_view written, const Value& variables);
    Attempt<TriggerNumber> trigger_named(std::string_view id) const;

    /// Identifies the next task or message of this firing.
    TaskKey next_key() { return {.fire = fire_, .index = base_ + item_offset_++}; }

    /// The index of the first of so many in a row, for tasks that later firings open in its name.
    std::uint64_t reserve(std::uint64_t count);

    struct Outgoing {
        std::string type;
        std::string subject;
        Value data;
        std::string scope; ///< Path; empty: the root.
    };
    void emit(const Outgoing& outgoing, Incarnation into);
    void send(const Outgoing& outgoing, bool is_sink, const std::string& target);
    void reply(Value data);

    // Slices. An action over many items asks for its part of them and says where it stopped.
    bool is_continued() const { return continued_.has_value(); }
    struct Slice {
        Value items;
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        std::uint64_t count = 0;
    };
    Attempt<Slice> slice(const expr::cel::Template& each);
    /// Of a list, or of so many items; of the first slice only.
    Attempt<Slice> slice(Value items);
    void set_item(std::uint64_t index, const Value& items);
    void finish_slice(const Slice& slice);

    /// Which action of the trigger is being performed, for its continuation.
    void begin_action(std::uint32_t position);
    struct Resumed {
        std::uint64_t number = 0;
        std::uint32_t action = 0;
        std::uint64_t base = 0;
        Value items;
        std::uint64_t next = 0;
    };
    void resume(Resumed resumed);

private:
    Decider& decider_;
    const event::Event& event_;
    mutable std::optional<std::string> trace_;
    TriggerNumber trigger_;
    Incarnation scope_;
    std::string path_; ///< Of the scope when it fired.
    FireNumber fire_;
    std::uint64_t progress_;
    RunBindings bindings_;
    std::uint32_t action_ = 0;
    std::uint64_t base_ = 0; ///< Index of the current action's first task or message.
    std::uint64_t item_offset_ = 0;
    std::optional<Resumed> continued_;
};

} // namespace sluice::trigger
