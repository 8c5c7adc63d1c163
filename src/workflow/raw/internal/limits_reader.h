#pragma once

#include <string>
#include <vector>

#include "trigger/spec.h"
#include "workflow/raw/function_form.h"

namespace sluice::workflow::raw::internal {

/// `limits` and `pool` of a function, and `rate`, `burst`, `priority` and `per_key`, which become
/// part of its policy. `form` is the whole function.
void read_limits(const Value& form, const std::string& path, FunctionForm& function,
                 std::vector<trigger::Problem>& problems);

} // namespace sluice::workflow::raw::internal
