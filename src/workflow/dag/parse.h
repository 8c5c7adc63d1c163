#pragma once

#include "value/value.h"
#include "workflow/dag/flow.h"
#include "workflow/dag/operator.h"

namespace sluice::workflow::dag {

/// Whether a document is a definition of tasks: it has `tasks`.
bool is_dag(const Value& form);

/// Reads the tasks of a definition and how they depend on each other. What is wrong is appended;
/// the result is usable only where nothing was. A document becomes a form by raw::parse.
std::unique_ptr<Flow> parse(const Value& form, const Operators& operators, Problems& problems);
/// The same of tasks alone, which a task of a run gave: they become the body of `owner`.
std::unique_ptr<Flow> parse_body(const Value& tasks, const Flow& outer, std::uint32_t owner,
                                 const Operators& operators, Problems& problems);

} // namespace sluice::workflow::dag
