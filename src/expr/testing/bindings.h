#pragma once

#include "expr/map_bindings.h"
#include "expr/program.h"

namespace sluice::expr::testing {

using expr::MapBindings;

/// Every member of the map, as names that an expression may use.
CompileOptions options_for(const Value& names);

} // namespace sluice::expr::testing
