#pragma once

#include "expr/cel/runtime/function.h"

namespace sluice::expr::cel::runtime {

Cell to_text(Machine& machine, Arguments arguments);
Cell to_bytes(Machine& machine, Arguments arguments);
Cell to_int(Machine& machine, Arguments arguments);
Cell to_uint(Machine& machine, Arguments arguments);
Cell to_double(Machine& machine, Arguments arguments);
Cell to_bool(Machine& machine, Arguments arguments);
Cell to_timestamp(Machine& machine, Arguments arguments);
Cell to_duration(Machine& machine, Arguments arguments);
Cell to_type(Machine& machine, Arguments arguments);
Cell to_dyn(Machine& machine, Arguments arguments);

} // namespace sluice::expr::cel::runtime
