#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "workflow/dag/operator.h"
#include "workflow/raw/function_form.h"

namespace sluice::workflow::dag::internal {

/// The function that a task brings along, a `script` or an `http` request; nothing when it brings
/// none, or it is wrong.
std::optional<raw::FunctionForm> function_of(std::string_view kind, const Value& task,
                                             const std::string& id);
/// Such a task as the call of its function.
Value as_call(std::string_view kind, const Value& task, const std::string& function);

OperatorPtr make_script(const Value& task, const ExpressionSite& site, Problems& problems);
OperatorPtr make_http(const Value& task, const ExpressionSite& site, Problems& problems);

} // namespace sluice::workflow::dag::internal
