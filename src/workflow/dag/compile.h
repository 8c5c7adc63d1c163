#pragma once

#include <vector>

#include "workflow/dag/flow.h"
#include "workflow/dag/operator.h"
#include "workflow/raw/compile.h"
#include "workflow/raw/parse.h"

namespace sluice::workflow::dag {

/// One trigger for each task, which waits for the ends of those before it, and one that waits for
/// the last of them. The form must have passed `check`.
/// Its tasks are read again unless `check` has left them here.
raw::Definition compile(const Value& form, const Operators& operators, const Flow* read = nullptr);

/// The triggers of tasks that became the body of a task while it runs. They must have passed
/// `check`; scripts and requests are none of them.
std::vector<Value> compile_body(const Flow& body, const Value& result, const Operators& operators);

} // namespace sluice::workflow::dag
