#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "expr/cel/internal/tree.h"

namespace sluice::expr::cel::internal {

/// How a function may be written: `size(x)`, `x.contains(y)`, or either.
enum class CallStyle : std::uint8_t { Global, Member, Either };

struct Function {
    std::string_view name;
    Op op;
    CallStyle style;
    std::size_t
        arguments; ///< Beside the value it is called on, which comes first in a global call.
    KindSet result;
};

/// Null when there is none of this name. `has` is no function: its argument is not evaluated.
const Function* find_function(std::string_view name);

/// "has, size, …"
std::string function_names();

} // namespace sluice::expr::cel::internal
