#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "event/event_view.h"
#include "trigger/state.h"
#include "trigger/trigger_set.h"

namespace sluice::trigger {

/// The triggers of one run: those of its trigger set, less and plus what was changed at run time.
///
/// The set is shared; only what is the run's own is held here. It follows from the run's overrides,
/// so it is not stored.
class RunTriggers {
public:
    RunTriggers(std::shared_ptr<const TriggerSet> set, const Vocabulary& vocabulary);

    const SetSpec& spec() const { return set_->spec(); }
    const TriggerSet& set() const { return *set_; }

    /// Null when it was removed or never was.
    const CompiledTrigger* get(TriggerNumber number) const;
    std::optional<TriggerNumber> find(std::string_view id) const;
    /// What an event may activate, in order of creation, whatever filters say.
    void match(std::string_view type, std::string_view subject, Matches& out) const;
    /// The same, without some of those whose filter is false for this event.
    void match(event::EventView& event, Matches& out) const;
    /// Whether the two differ.
    bool has_filters() const { return set_->has_filters(); }
    /// Who intercepts this trigger's firing, in order of creation. Interceptors are intercepted by
    /// id only.
    std::vector<TriggerNumber> interceptors_of(TriggerNumber number) const;
    bool has_interceptors() const { return set_->has_interceptors() || own_interceptors_ > 0; }

    /// The number a trigger added now would get.
    TriggerNumber next_number(const RunState& state) const;
    /// Compiles a form, to see whether it may become this trigger: all problems, also a duplicate
    /// id or a cycle of interceptors.
    std::shared_ptr<const CompiledTrigger> check(TriggerNumber number, const Value& form,
                                                 std::vector<Problem>& problems) const;
    /// Whoever gives commands stands here while they are carried out; null afterwards.
    void set_commander(std::shared_ptr<const CompiledTrigger> trigger) {
        commander_ = std::move(trigger);
    }
    /// Puts a trigger in the place of this number; null removes it.
    void replace(TriggerNumber number, std::shared_ptr<const CompiledTrigger> trigger);
    /// Back to those of the set.
    void reset();
    /// Triggers that were replaced stay alive until this is called: a decision may still hold them.
    void drop_replaced() { replaced_.clear(); }
    /// After loading a run: everything its overrides say. Fails with Corrupt when one no longer
    /// compiles.
    Result<void> restore(const RunState& state);

private:
    void add_own(std::string_view type, std::string_view subject, Matches& out) const;
    bool closes_cycle(TriggerNumber number, const TriggerSpec& spec) const;

    std::shared_ptr<const TriggerSet> set_;
    const Vocabulary& vocabulary_;
    std::map<TriggerNumber, std::shared_ptr<const CompiledTrigger>> own_; ///< Null: removed.
    std::map<std::string, TriggerNumber, std::less<>> own_ids_;
    PatternIndex own_index_;
    std::size_t own_interceptors_ = 0;
    std::vector<std::shared_ptr<const CompiledTrigger>> replaced_;
    std::shared_ptr<const CompiledTrigger> commander_;
};

} // namespace sluice::trigger
