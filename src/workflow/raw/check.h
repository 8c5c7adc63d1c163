#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "trigger/trigger_set.h"
#include "workflow/raw/finding.h"
#include "workflow/raw/function_form.h"
#include "workflow/raw/parse.h"

namespace sluice::workflow::raw {

struct CheckOptions {
    /// Functions that are there besides the built-in ones and those the document declares.
    std::set<std::string, std::less<>> known_functions;
    bool are_all_known = false;                     ///< Whatever a function is called, it is there.
    std::set<std::string, std::less<>> known_pools; ///< Likewise.
    /// Types of tasks that are not taken here, and why.
    std::map<std::string, std::string, std::less<>> refused_tasks{};

    void add(const FunctionForm& form) {
        (form.kind == FunctionKind::Pool ? known_pools : known_functions).insert(form.name);
    }
};

/// What is wrong with the pool of a call, given as `pool` in its form.
void check_pool(const Value& call, const std::string& path, const CheckOptions& known,
                std::vector<trigger::Problem>& problems);

/// Everything that is wrong with a definition, each with its place; at most 100. A document without
/// findings compiles.
std::vector<Finding> check(const Document& document, const trigger::Vocabulary& vocabulary,
                           const CheckOptions& options = {});

/// The same of a form that is a part of another document, with paths in it.
std::vector<trigger::Problem> check(const Value& form, const trigger::Vocabulary& vocabulary,
                                    const CheckOptions& options = {});

} // namespace sluice::workflow::raw
