#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/result.h"
#include "expr/program.h"

namespace sluice::expr::cel::internal {

/// What reading an expression gives: the author's mistakes are faults.
template <typename T>
using Parsed = std::expected<T, Fault>;

template <typename... Args>
std::unexpected<Fault> refuse(std::string_view code, std::size_t position,
                              fmt::format_string<Args...> format, Args&&... args) {
    return std::unexpected(
        Fault{std::string{code}, fmt::format(format, std::forward<Args>(args)...), position});
}

/// What is not written as CEL is.
template <typename... Args>
std::unexpected<Fault> fail_at(std::size_t position, fmt::format_string<Args...> format,
                               Args&&... args) {
    return refuse("syntax", position, format, std::forward<Args>(args)...);
}

} // namespace sluice::expr::cel::internal
