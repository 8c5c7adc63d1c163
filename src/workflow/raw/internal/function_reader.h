#pragma once

#include <vector>

#include "trigger/spec.h"
#include "workflow/raw/function_form.h"

namespace sluice::workflow::raw::internal {

/// The section `functions`. Every problem found is appended; a function with one is still given, as
/// far as it was understood.
std::vector<FunctionForm> read_functions(const Value& section,
                                         std::vector<trigger::Problem>& problems);

} // namespace sluice::workflow::raw::internal
