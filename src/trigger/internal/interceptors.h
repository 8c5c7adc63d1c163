#pragma once

#include <vector>

#include "trigger/spec.h"

namespace sluice::trigger::internal {

/// Appends what is wrong between the triggers of a set: an id given twice, an interceptor of a
/// trigger that is not there, interceptors that intercept each other in a circle.
void check_ids(const std::vector<TriggerSpec>& triggers, std::vector<Problem>& problems);

} // namespace sluice::trigger::internal
