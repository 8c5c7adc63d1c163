#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "workflow/dag/flow.h"
#include "workflow/dag/operator.h"

namespace sluice::workflow::dag::internal {

enum class OnError : std::uint8_t { Fail, Skip, Halt };

/// What undoes a task that has succeeded when its run fails.
struct Undo {
    std::string function;
    Template input;
    Value policy;
};

/// A task as its trigger's action has it, compiled.
struct Settings {
    Rule rule = Rule::AllSuccess;
    std::uint64_t needed = 0;   ///< Of `k_of_n`.
    std::uint32_t upstream = 0; ///< The first of the trigger's patterns are the ends it waits for.
    std::vector<std::string> prefixes;
    std::optional<Template> when;
    Nanos deadline{0}; ///< Zero: none.
    OnError on_error = OnError::Fail;
    std::vector<Catch> catches;
    std::optional<Undo> undo;
    OperatorPtr work;
    ExpressionSite site;
    std::shared_ptr<const Operators> operators; ///< For tasks that come while it runs.
};

/// Reads a task's form, with what `compile` put there; problems have paths relative to it.
Settings read_settings(const Value& form, const std::shared_ptr<const Operators>& operators,
                       Problems& problems);
/// Where its expressions stand.
ExpressionSite read_site(const Value& form);

/// `timeout`, `retry`, `priority`, `pool` and `slots` of a call, as the kernel takes them; null:
/// none of them.
Value read_policy(const Value& form, const std::string& path, Problems& problems);
/// A policy with what `compile` found of the task's result: whether it may be kept by reference.
Value with_large(const Value& task, Value policy);
/// A template that is a member of a form; null when it has none.
Template read_template(const Value& form, std::string_view member, const std::string& path,
                       const ExpressionSite& site, Problems& problems);

} // namespace sluice::workflow::dag::internal
