#pragma once

#include <string>
#include <vector>

#include "expr/jsonata/internal/tree.h"

namespace sluice::expr::jsonata::internal {

/// Variables that no part of the expression binds, functions that are not there among them.
std::vector<std::string> free_variables(const Tree& tree);

/// Whether something in it is read from the expression's own input: `$` or a name outside of any
/// step, or `$$`.
bool reads_input(const Tree& tree);

} // namespace sluice::expr::jsonata::internal
