#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "expr/program.h"

namespace sluice::expr::cel {

/// Something that must hold for an expression to be true: a static path compared with constants.
///
/// Where the path has a value (for StartsWith: a text) that is not among the constants, the
/// expression is false and no fault, whatever else it asks for. Where it has none nothing is said:
/// the expression may fault.
struct Constraint {
    enum class Form : std::uint8_t {
        Equals,     ///< One of the constants, as CEL's `==` has it.
        StartsWith, ///< Begins with the constant.
    };

    std::vector<std::string> path;
    Form form = Form::Equals;
    std::vector<Value> constants;
};

/// Those that `&&` joins at the beginning of the expression: `==`, `in` and `startsWith` with
/// constants. None for what is no CEL.
std::vector<Constraint> constraints_of(const Program& program);

} // namespace sluice::expr::cel
