#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "expr/program.h"

namespace sluice::expr::jsonata::internal {

inline constexpr std::size_t position_unknown = std::numeric_limits<std::size_t>::max();

/// A fault on its way out. Thrown within this module alone: an expression fails once, while each
/// of its nodes would have to look for a fault after each of its parts.
struct Raised {
    Fault fault;
};

template <typename... Arguments>
[[noreturn]] void raise_at(std::size_t position, std::string_view code,
                           fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    throw Raised{
        {std::string{code}, fmt::format(text, std::forward<Arguments>(arguments)...), position}};
}

/// The call that is being evaluated adds its position.
template <typename... Arguments>
[[noreturn]] void raise(std::string_view code, fmt::format_string<Arguments...> text,
                        Arguments&&... arguments) {
    raise_at(position_unknown, code, text, std::forward<Arguments>(arguments)...);
}

} // namespace sluice::expr::jsonata::internal
