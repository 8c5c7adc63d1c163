#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "expr/cel/runtime/machine.h"

namespace sluice::expr::cel::runtime {

using Arguments = std::span<const Cell>;
using Implementation = Cell (*)(Machine& machine, Arguments arguments);

/// How a function may be written: `size(x)`, `x.contains(y)`, or either.
enum class CallStyle : std::uint8_t { Global, Member, Either };

struct Function {
    std::string_view name; ///< With its namespace: `math.abs`.
    CallStyle style;
    std::uint8_t arguments_min; ///< With the value it is called on, which comes first.
    std::uint8_t arguments_max;
    KindSet result;
    Implementation implementation;
};

inline constexpr std::uint8_t many_arguments = 255;

std::span<const Function> core_functions();
std::span<const Function> text_functions();
std::span<const Function> math_functions();
std::span<const Function> time_functions();
std::span<const Function> network_functions();

/// Null when there is none that is written so.
const Function* find_function(std::string_view name, CallStyle style);
/// The nearest name, for a message: ", did you mean x?"; or nothing.
std::string suggest_function(std::string_view name);

} // namespace sluice::expr::cel::runtime
