#pragma once

#include <set>
#include <string>
#include <vector>

#include "trigger/trigger_set.h"
#include "workflow/raw/finding.h"
#include "workflow/raw/parse.h"

namespace sluice::workflow::raw {

struct CheckOptions {
    /// Functions that are there besides the built-in ones and those the document declares.
    std::set<std::string, std::less<>> known_functions;
    bool are_all_known = false; ///< Whatever a function is called, it is there.
};

/// Everything that is wrong with a definition, each with its place; at most 100. A document without
/// findings compiles.
std::vector<Finding> check(const Document& document, const trigger::Vocabulary& vocabulary,
                           const CheckOptions& options = {});

/// The same of a form that is a part of another document, with paths in it.
std::vector<trigger::Problem> check(const Value& form, const trigger::Vocabulary& vocabulary,
                                    const CheckOptions& options = {});

} // namespace sluice::workflow::raw
