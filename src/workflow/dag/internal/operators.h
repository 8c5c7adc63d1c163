#pragma once

#include "workflow/dag/operator.h"

/// The factories of the built-in types of tasks: docs/reference/dag.md says what each takes.
namespace sluice::workflow::dag::internal {

OperatorPtr make_call(const Value& task, const ExpressionSite& site, Problems& problems);
OperatorPtr make_subworkflow(const Value& task, const ExpressionSite& site, Problems& problems);
OperatorPtr make_map(const Value& task, const ExpressionSite& site, Problems& problems);
OperatorPtr make_branch(const Value& task, const ExpressionSite& site, Problems& problems);
OperatorPtr make_wait(const Value& task, const ExpressionSite& site, Problems& problems);
OperatorPtr make_approve(const Value& task, const ExpressionSite& site, Problems& problems);
OperatorPtr make_emit(const Value& task, const ExpressionSite& site, Problems& problems);

/// What a person answered to an `approve`; a fault says what is wrong with the form.
trigger::Attempt<void> approve(Step& step, const Value& answer);

/// A text, or an expression that yields one, from a member that must be there.
Template read_text(const Value& form, std::string_view member, std::string_view expected,
                   const std::string& path, const ExpressionSite& site, Problems& problems);
trigger::Attempt<std::string> evaluate_text(
    const Step& step, const Template& pattern, std::string_view what,
    const std::vector<std::pair<std::string, Value>>& locals = {});

} // namespace sluice::workflow::dag::internal
