#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "base/random.h"
#include "value/value.h"

namespace sluice::expr::states::internal {

/// What an intrinsic function gives, or what it complains of.
using FunctionResult = std::expected<Value, std::string>;

/// One of the States Language's intrinsic functions.
struct Function {
    std::string_view name; ///< Without `States.`.
    std::uint8_t arguments_min;
    std::uint8_t arguments_max;
    /// A letter an argument: `l`ist, `n`umber, `s`tring, `o`bject, `b`ool, `v`alue of any kind.
    std::string_view kinds;
    FunctionResult (*run)(std::span<const Value> arguments, Random& chance);
};

/// Null when there is none of that name.
const Function* find_function(std::string_view name);
/// Why a value cannot be an argument; empty when it can.
std::string refuse_argument(const Function& function, std::size_t at, const Value& value);

// What JSONata's added functions do as well.
FunctionResult array_partition(std::span<const Value> arguments, Random& chance);
FunctionResult array_range(std::span<const Value> arguments, Random& chance);
FunctionResult hash_of_text(std::span<const Value> arguments, Random& chance);
FunctionResult make_uuid(std::span<const Value> arguments, Random& chance);
FunctionResult parse_text(std::string_view text);

/// As `Format` writes it: texts bare, objects and lists the way Java prints them.
void append_formatted(const Value& value, std::string& out);

} // namespace sluice::expr::states::internal
