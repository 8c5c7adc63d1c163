#pragma once

#include <memory>
#include <vector>

#include "trigger/trigger_set.h"
#include "workflow/dag/flow.h"
#include "workflow/dag/operator.h"
#include "workflow/raw/check.h"
#include "workflow/raw/finding.h"
#include "workflow/raw/parse.h"

namespace sluice::workflow::dag {

using raw::CheckOptions;

/// Everything that is wrong with a definition of tasks, each with its place; at most 100. A
/// document without findings compiles.
/// The tasks it has read, for `compile`, are left in `flow` if that is given.
std::vector<raw::Finding> check(const raw::Document& document, const Operators& operators,
                                const trigger::Vocabulary& vocabulary,
                                const CheckOptions& options = {},
                                std::unique_ptr<Flow>* flow = nullptr);
/// What is wrong with tasks that are read already, bodies included; paths are those of the file.
/// Functions and pools must be among these, unless that is null.
void check(const Flow& flow, const std::shared_ptr<const Operators>& operators,
           const CheckOptions* known, Problems& problems);

} // namespace sluice::workflow::dag
