#pragma once

#include <string_view>

#include "base/result.h"
#include "expr/program.h"

namespace sluice::expr::cel {

/// Fails with InvalidInput: unknown names, bad syntax; the message ends with the byte position.
Result<Program> compile(std::string_view text, const CompileOptions& options);

} // namespace sluice::expr::cel
