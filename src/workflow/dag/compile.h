#pragma once

#include "workflow/dag/operator.h"
#include "workflow/raw/compile.h"
#include "workflow/raw/parse.h"

namespace sluice::workflow::dag {

/// One trigger for each task, which waits for the ends of those before it, and one that waits for
/// the last of them. The form must have passed `check`.
raw::Definition compile(const Value& form, const Operators& operators);

} // namespace sluice::workflow::dag
