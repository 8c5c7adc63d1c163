#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "trigger/trigger_set.h"
#include "workflow/dag/flow.h"
#include "workflow/dag/operator.h"
#include "workflow/raw/finding.h"
#include "workflow/raw/parse.h"

namespace sluice::workflow::dag {

struct CheckOptions {
    /// Functions that are there besides the built-in ones and those the document declares.
    std::set<std::string, std::less<>> known_functions;
    bool are_all_known = false; ///< Whatever a function is called, it is there.
};

/// Everything that is wrong with a definition of tasks, each with its place; at most 100. A
/// document without findings compiles.
/// The tasks it has read, for `compile`, are left in `flow` if that is given.
std::vector<raw::Finding> check(const raw::Document& document, const Operators& operators,
                                const trigger::Vocabulary& vocabulary,
                                const CheckOptions& options = {},
                                std::unique_ptr<Flow>* flow = nullptr);
/// What is wrong with tasks that are read already, bodies included; paths are those of the file.
/// Functions must be among these, unless that is null.
void check(const Flow& flow, const std::shared_ptr<const Operators>& operators,
           const std::set<std::string, std::less<>>* functions, Problems& problems);

} // namespace sluice::workflow::dag
