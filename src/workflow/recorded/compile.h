#pragma once

#include <expected>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "value/value.h"
#include "workflow/dag/operator.h"
#include "workflow/raw/compile.h"
#include "workflow/raw/finding.h"
#include "workflow/raw/parse.h"

namespace sluice::workflow::recorded {

/// Whether a document is in the form of another system: WfFormat has `workflow`, Pegasus `pegasus`.
bool is_recorded(const Value& form);

/// The tasks of another system as tasks of ours, compiled as those are: each calls the function
/// that goes by the name of its program. Or everything that is wrong, with its place.
///
/// Functions must be among these, unless that is null: then they are known when they are called.
std::expected<raw::Definition, std::vector<raw::Finding>> compile(
    const raw::Document& document, const dag::Operators& operators,
    const std::set<std::string, std::less<>>* functions);

} // namespace sluice::workflow::recorded
