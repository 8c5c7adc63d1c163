#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "expr/program.h"
#include "trigger/action.h"
#include "trigger/condition.h"
#include "trigger/ids.h"
#include "trigger/internal/filter_index.h"
#include "trigger/pattern_index.h"
#include "trigger/spec.h"

namespace sluice::trigger {

/// Standing runs by the first part of their ids: what parse_set reads as the triggers of each.
std::map<std::string, Value, std::less<>> built_in_standing();

/// Conditions, actions and standing runs by name: the built-in ones, and what modules add.
struct Vocabulary {
    std::map<std::string, ConditionFactory, std::less<>> conditions = built_in_conditions();
    std::map<std::string, ActionFactory, std::less<>> actions = built_in_actions();
    std::map<std::string, Value, std::less<>> standing = built_in_standing();
};

/// A trigger with its parts compiled. What every event asks of it lies together, in one line of the
/// cache: a run may have a million.
struct alignas(64) CompiledTrigger {
    std::shared_ptr<const Condition> condition;
    std::shared_ptr<const expr::Program> filter; ///< Null: none.
    TriggerSpec spec;
    std::vector<std::shared_ptr<const Action>> actions;
};

/// Compiles triggers; equal conditions and actions are shared between them.
class Compiler {
public:
    explicit Compiler(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

    /// Appends what is wrong, with `path` in front.
    CompiledTrigger compile(TriggerSpec spec, const std::string& path,
                            std::vector<Problem>& problems);

private:
    std::shared_ptr<const Condition> condition_of(const TriggerSpec& spec, const std::string& path,
                                                  std::vector<Problem>& problems);
    std::shared_ptr<const Action> action_of(const Term& term, const std::string& path,
                                            std::vector<Problem>& problems);

    const Vocabulary& vocabulary_;
    std::map<std::string, std::shared_ptr<const Condition>> conditions_;
    std::map<std::string, std::shared_ptr<const Action>> actions_;
};

/// A definition, compiled: triggers, index, expressions. Immutable, cached by its hash, shared by
/// all runs of all threads.
class TriggerSet {
public:
    /// Null when there are problems.
    static std::shared_ptr<const TriggerSet> compile(SetSpec spec, const Vocabulary& vocabulary,
                                                     std::vector<Problem>& problems);

    const SetSpec& spec() const { return spec_; }
    std::size_t size() const { return triggers_.size(); }
    const CompiledTrigger& at(TriggerNumber number) const { return triggers_[number.raw()]; }
    /// Of all triggers, whatever their filters say.
    const PatternIndex& index() const { return index_; }
    /// Replaces `out` by what the event may activate, without some of those whose filter is false
    /// for it.
    void find(event::EventView& event, Matches& out) const;
    bool has_filters() const { return !filters_.is_empty(); }
    std::optional<TriggerNumber> find(std::string_view id) const;
    /// Triggers that intercept the one with this id, or those whose condition has this name; in
    /// order of creation.
    const std::vector<TriggerNumber>& interceptors_of_trigger(std::string_view id) const;
    const std::vector<TriggerNumber>& interceptors_of_condition(std::string_view name) const;
    bool has_interceptors() const { return !by_trigger_.empty() || !by_condition_.empty(); }
    /// Triggers whose deadline runs from the start of the run.
    const std::vector<TriggerNumber>& with_deadline() const { return with_deadline_; }

private:
    void add_filter(TriggerNumber number);

    SetSpec spec_;
    std::vector<CompiledTrigger> triggers_;
    PatternIndex index_;
    PatternIndex unfiltered_; ///< Those that `filters_` has not, when it has any.
    FilterIndex filters_;
    boost::unordered_flat_map<std::string_view, TriggerNumber> by_id_;
    std::map<std::string, std::vector<TriggerNumber>, std::less<>> by_trigger_;
    std::map<std::string, std::vector<TriggerNumber>, std::less<>> by_condition_;
    std::vector<TriggerNumber> with_deadline_;
};

/// The names that expressions in triggers may use.
expr::CompileOptions expression_names();

} // namespace sluice::trigger
