#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trigger/action.h"
#include "trigger/spec.h"
#include "workflow/dag/template.h"

namespace sluice::workflow::dag {

class Step;

/// What a task does: compiled once, shared by all runs. It changes nothing itself but asks the step
/// to.
class Operator {
public:
    virtual ~Operator() = default;

    /// Begins the work. A fault fails the task.
    virtual trigger::Attempt<void> start(Step& step) const = 0;
    /// The next slice of what `start` began.
    virtual trigger::Attempt<void> go_on(Step& step) const;
    /// Something of the task's own has come: an answer, a timer, an event it waits for.
    virtual trigger::Attempt<void> take(Step& step) const;
};

using OperatorPtr = std::shared_ptr<const Operator>;
using Problems = std::vector<trigger::Problem>;

/// Reads one task's form. What is wrong is appended, with paths relative to the task.
using OperatorFactory =
    std::function<OperatorPtr(const Value& task, const ExpressionSite& site, Problems& problems)>;

/// A named type of task. `members` are those of the task that it reads besides its own.
struct OperatorKind {
    OperatorFactory make;
    std::vector<std::string> members;
    /// Patterns of what a task waits for besides the ends of others and `sluice.task.*`, in the
    /// form that triggers take, given its form and id.
    std::function<std::vector<Value>(const Value& task, const std::string& id)> patterns;
};

/// Types of tasks by name. Whoever has others adds them before definitions are read.
using Operators = std::map<std::string, OperatorKind, std::less<>>;

/// call, map, branch, wait, approve, subworkflow, emit, …
Operators built_in_operators();

} // namespace sluice::workflow::dag
