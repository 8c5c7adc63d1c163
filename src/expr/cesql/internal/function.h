#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "value/value.h"

namespace sluice::expr::cesql::internal {

/// What a function answers, and what it has to object to it.
struct Reply {
    Value value;
    const char* code = nullptr;
    std::string message;
};

/// A built-in function. Arguments come cast to its parameters; the last parameter of a variadic
/// function stands for all that follow.
struct Function {
    std::string_view name;
    std::size_t arguments_min = 0;
    std::size_t arguments_max = 0;
    value::Kind result = value::Kind::String;
    value::Kind first = value::Kind::String;
    value::Kind others = value::Kind::String;
    Reply (*call)(std::span<const Value> arguments) = nullptr;
};

/// By name, upper case, and number of arguments; null when there is none.
const Function* find_function(std::string_view name, std::size_t arguments);

/// The value as another kind, by section 3.7; nothing when it cannot be cast.
std::optional<Value> cast(const Value& value, value::Kind kind);

/// `""`, `0` or `false`.
Value zero_of(value::Kind kind);

} // namespace sluice::expr::cesql::internal
